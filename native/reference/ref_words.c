/* Words and pieces of words that are tokens beside those of the corpus, so that plain English needs about one token a word. */

#include "ref_private.h"

/* Common words; each also gives tokens with a space before it and with a capital. NULL ends the list. */
const char* const trf_words[] = {
	"the of and to in a is that it for was on are as with his they be at one have this from or had by hot but some what there we can out other were all your when up use word how said an each she which do",
	"their time if will way about many then them would write like so these her long make thing see him two has look more day could go come did my sound no most number who over know water than call first",
	"people may down side been now find any new work part take get place made live where after back little only round man year came show every good me give our under name very through just form much great",
	"think say help low line before turn cause same mean differ move right boy old too does tell sentence set three want air well also play small end put home read hand port large spell add even land here",
	"must big high such follow act why ask men change went light kind off need house picture try us again animal point mother world near build self earth father head stand own page should country found",
	"answer school grow study still learn plant cover food sun four thought let keep eye never last door between city tree cross since hard start might story saw far sea draw left late run don't while",
	"press close night real life few stop open seem together next white children begin got walk example ease paper often always music those both mark book letter until mile river car feet care second group",
	"carry took rain eat room friend began idea fish mountain north once base hear horse cut sure watch color face wood main enough plain girl usual young ready above ever red list though feel talk bird",
	"soon body dog family direct pose leave song measure state product black short numeral class wind question happen complete ship area half rock order fire south problem piece told knew pass farm top",
	"whole king size heard best hour better true during hundred remember step early hold west ground interest reach fast five sing listen six table travel less morning ten simple several vowel toward war",
	"lay against pattern slow center love person money serve appear road map science rule govern pull cold notice voice fall power town fine certain fly unit lead cry dark machine note wait plan figure",
	"star box noun field rest correct able pound done beauty drive stood contain front teach week final gave green quick develop sleep warm free minute strong special mind behind clear tail produce fact",
	"street inch nothing course stay wheel full force blue object decide surface deep moon island foot yet busy test record boat common gold possible plane age dry wonder laugh thousand ago ran check game",
	"shape yes miss brought heat snow bed bring sit perhaps fill east weight language among grand ball wave drop heart am present heavy dance engine position arm wide sail material fraction forest race",
	"window store summer train prove lone leg exercise wall catch mount wish sky board joy winter sat written wild instrument kept glass grass cow job edge sign visit past soft fun bright gas weather month",
	"million bear finish happy hope flower clothe strange gone trade melody trip office receive row mouth exact symbol die least trouble shout except wrote seed tone join suggest clean break lady yard rise",
	"bad blow oil blood touch grew cent mix team wire cost lost brown wear garden equal sent choose fell fit flow fair bank collect save control decimal ear else quite broke case middle kill son lake",
	"moment scale loud spring observe child straight consonant nation dictionary milk speed method organ pay section dress cloud surprise quiet stone tiny climb cool design poor lot experiment bottom key",
	"iron single stick flat twenty skin smile crease hole jump baby eight village meet root buy raise solve metal whether push seven paragraph third shall held hair describe cook floor either result burn",
	"hill safe cat century consider type law bit coast copy phrase silent tall sand soil roll temperature finger industry value fight lie beat excite natural view sense capital won't chair danger fruit",
	"rich thick soldier process operate practice separate difficult doctor please protect noon crop modern element hit student corner party supply whose locate ring character insect caught period indicate",
	"radio spoke atom human history effect electric expect bone rail imagine provide agree thus gentle woman captain guess necessary sharp wing create neighbor wash bat rather crowd corn compare poem",
	"string bell depend meat rub tube famous dollar stream fear sight thin triangle planet hurry chief colony clock mine tie enter major fresh search send yellow gun allow print dead spot desert suit",
	"current lift rose arrive master track parent shore division sheet substance favor connect post spend chord fat glad original share station dad bread charge proper bar offer segment slave duck instant",
	"market degree populate chick dear enemy reply drink occur support speech nature range steam motion path liquid log meant quotient teeth shell neck oxygen sugar death pretty skill women season solution",
	"magnet silver thank branch match suffix especially fig afraid huge sister steel discuss forward similar guide experience score apple bought led pitch coat mass card band rope slip win dream evening",
	"condition feed tool total basic smell valley nor double seat continue block chart hat sell success company subtract event particular deal swim term opposite wife shoe shoulder spread arrange camp",
	"invent cotton born determine quart nine truck noise level chance gather shop stretch throw shine property column molecule select wrong gray repeat require broad prepare salt nose plural anger claim",
	"continent model data system computer user server network code program file function text token request response document query video image frame scene camera ocean sunset today tomorrow yesterday",
	"hello thanks assistant important information available public business service research report local community university health online site web email account price review software database storage",
	"security performance memory device application version update release following according because however therefore although without within another someone something everything anything everyone",
	"anyone himself herself itself themselves ourselves yourself really actually usually already almost around across along including based used using known called given taken shown seen different national",
	"political social economic international government president american issue member members things years days weeks months hours minutes people's countries cities states words books ideas reasons",
	"results questions answers examples problems systems models documents passages queries tokens requests frames videos images users servers running walking talking working making taking going coming",
	"looking being having doing saying getting giving finding thinking telling trying asking seeming feeling becoming leaving putting meaning keeping letting beginning helping showing hearing playing",
	"moving living believing bringing happening writing providing sitting standing losing paying meeting setting learning changing leading understanding watching stopping creating speaking reading allowing",
	"adding spending growing opening winning offering remembering loving considering appearing buying waiting serving dying sending expecting building staying falling cutting reaching killing remaining",
	"worked looked wanted asked turned seemed helped started played moved liked lived believed happened provided included continued learned changed followed stopped created allowed added opened walked",
	"offered remembered loved considered appeared waited served died expected stayed reached remained",
	NULL,
};

/* Frequent parts of words, from which other words are built. */
const char* const trf_affixes[] = {
	"th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ne ea ra ce li ch ll be ma si om ur ing ion tion ation ment ness able ible ful less ly",
	"ous ive ity ence ance est ers ent ant ate ify ize ise ism ist ship hood ward wise un pre pro con com dis mis sub inter trans over under out non anti auto bio geo micro multi tele ck ght sh ph qu ss tt",
	"ff pp mm nn rr oo ee ai oa ie ew ow ay oy au aw tr dr br cr fr gr pr bl cl fl gl pl sl sp sk sm sn sw tw wh wr kn",
	NULL,
};

#include "shim.h"

uint64_t cabi_bench_documents(cabi_frame* f, const char* base)
{
	trtmc_string_view* views = (trtmc_string_view*)f->documents_in.documents.data;
	uint64_t n = f->documents_in.documents.size, sum = 0;
	for (uint64_t i = 0; base && i < n; i++)
		views[i].data = base + (uintptr_t)views[i].data;
	for (uint64_t i = 0; i < n; i++)
		sum += views[i].size + (uint8_t)views[i].data[0];
	return sum;
}

uint64_t cabi_bench_strings(const trtmc_string_view* views, uint64_t n)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < n; i++)
		sum += views[i].size + (uint8_t)views[i].data[0];
	return sum;
}

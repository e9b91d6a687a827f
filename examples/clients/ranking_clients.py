"""Drives unmodified clients against a running ranking server: LangChain's NVIDIARerank and LiteLLM's nvidia_nim rerank
on both of its paths. MODEL has the form org/name. Exit code 0: every check held.

  ranking_clients.py BASE_URL MODEL                answers, top_k, and each kind of refusal
  ranking_clients.py BASE_URL MODEL STATUS REASON  a server that fails every request with this status and reason

The order and scores that a client shows its user are compared with the server's own answer, read without a client."""

import json
import logging
import os
import sys
import urllib.error
import urllib.request

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else litellm asks an outside host when it is imported

import litellm  # noqa: E402
from langchain_core.documents import Document  # noqa: E402
from langchain_nvidia_ai_endpoints import NVIDIARerank  # noqa: E402

QUERY = "why does bread dough rise"
PASSAGES = [
    "Flour keeps best in a cool and dry cupboard.",
    "Yeast gives off gas, and bread dough rises because the dough traps it.",
    "Cats purr when they are content.",
    "Dough should rest before it is baked.",
    "Zwölf Boxkämpfer jagen Viktor über den Deich; \"quoted\", tabs\tand 日本語.",
]
LONG = "bread " * 3000  # longer than the reference bundle takes

# The exceptions by which LiteLLM tells a status to its user.
LITELLM_NAMES = {
    400: "BadRequestError", 404: "NotFoundError", 413: "BadRequestError", 429: "RateLimitError",
    500: "InternalServerError", 502: "BadGatewayError", 503: "ServiceUnavailableError",
}


def post(base, path, body):
    """Asks the server without any client and returns status and decoded answer."""
    request = urllib.request.Request(base + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def request_body(model, query, passages, **more):
    return {"model": model, "query": {"text": query}, "passages": [{"text": p} for p in passages], **more}


class Clients:
    """The three ways in. Each call returns what the user sees: (index or text, score) pairs in the client's order."""

    def __init__(self, base, model):
        self.base, self.model = base, model

    def langchain(self, query, passages, model=None, top_n=None, truncate=None):
        more = {"truncate": truncate} if truncate else {}
        ranker = NVIDIARerank(base_url=self.base + "/v1", api_key="none", model=model or self.model,
                              top_n=len(passages) if top_n is None else top_n, **more)
        found = ranker.compress_documents([Document(page_content=p) for p in passages], query)
        return [(d.page_content, d.metadata["relevance_score"]) for d in found]

    def litellm_retrieval(self, query, passages, model=None, top_n=None, truncate=None):
        return self._litellm("nvidia_nim/", query, passages, model, top_n, truncate)

    def litellm_ranking(self, query, passages, model=None, top_n=None, truncate=None):
        return self._litellm("nvidia_nim/ranking/", query, passages, model, top_n, truncate)

    def _litellm(self, prefix, query, passages, model, top_n, truncate):
        more = {"truncate": truncate} if truncate else {}
        answer = litellm.rerank(model=prefix + (model or self.model), query=query, documents=passages, top_n=top_n,
                                api_base=self.base, api_key="none", **more)
        return [(passages[r["index"]], r["relevance_score"]) for r in answer.results]

    def all(self):
        return [("langchain", self.langchain), ("litellm retrieval", self.litellm_retrieval),
                ("litellm ranking", self.litellm_ranking)]


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def hold(self, name, condition, seen):
        if condition:
            self.passed += 1
            print("ok   ", name)
        else:
            self.failed += 1
            print("FAIL ", name, "\n      saw:", seen)

    def refused(self, name, call, status, reason):
        """The user must see the status, as a number or in the name of the exception, and the reason."""
        try:
            self.hold(name, False, f"no refusal but {call()}")
        except Exception as error:  # the clients raise exceptions of many kinds; what they show is what a user sees
            shown = f"{type(error).__name__}: {error}"
            status_seen = f"[{status}]" in shown or type(error).__name__ == LITELLM_NAMES[status]
            self.hold(name, status_seen and reason in shown, shown)


def check_answers(clients, checks):
    status, answer = post(clients.base, "/v1/ranking", request_body(clients.model, QUERY, PASSAGES))
    checks.hold("the server ranks every passage", status == 200 and len(answer["rankings"]) == len(PASSAGES), answer)
    want = [(PASSAGES[r["index"]], r["logit"]) for r in answer["rankings"]]
    checks.hold("the passage that answers comes first", want[0][0] == PASSAGES[1], want)
    tied = ["same text"] * 3 + [PASSAGES[1]]
    for name, ask in clients.all():
        seen = ask(QUERY, PASSAGES)
        checks.hold(f"{name}: order and scores are the server's", seen == want, seen)
        seen = ask(QUERY, PASSAGES, top_n=2)
        checks.hold(f"{name}: top_n 2 gives the best two", seen == want[:2], seen)
        seen = ask(QUERY, PASSAGES, top_n=100)
        checks.hold(f"{name}: top_n above the number gives all", seen == want, seen)
        seen = ask(QUERY, tied)
        checks.hold(f"{name}: ties keep their passages", [s[0] for s in seen] == [PASSAGES[1]] + ["same text"] * 3, seen)
        seen = ask("bread", [LONG, "no"], truncate="END")
        checks.hold(f"{name}: END cuts where the bundle can", len(seen) == 2 and seen[0][0] == LONG, seen)


def check_top_k(clients, checks):
    """top_k belongs to one route: there the server cuts, on the other it says that it would not."""
    body = request_body(clients.model, QUERY, PASSAGES, top_k=2)
    status, answer = post(clients.base, f"/v1/retrieval/{clients.model}/reranking", body)
    checks.hold("top_k cuts on the reranking route", status == 200 and len(answer["rankings"]) == 2, answer)
    for field in "top_k", "top_n":
        status, answer = post(clients.base, "/v1/ranking", request_body(clients.model, QUERY, PASSAGES, **{field: 2}))
        checks.hold(f"/v1/ranking refuses {field} by name", status == 400 and field in answer["error"]["message"], answer)


def check_refusals(clients, checks):
    for name, ask in clients.all():
        checks.refused(f"{name}: unknown model", lambda: ask(QUERY, PASSAGES, model="nobody/has-this"), 404, "is not served here")
        checks.refused(f"{name}: empty passage", lambda: ask(QUERY, ["fine", ""]), 400, "passages[1].text: want text")
        checks.refused(f"{name}: empty query", lambda: ask("  ", PASSAGES), 400, "query.text: want text")
        checks.refused(f"{name}: passage too long for the model", lambda: ask(QUERY, ["fine", LONG]), 400, "passages[1].text: the model refuses this passage")
        checks.refused(f"{name}: passage above the limit", lambda: ask(QUERY, ["x" * 70000]), 400, "passages[0].text: 70000 bytes long, the limit is 65536")
    # LangChain sends long lists in batches, and LiteLLM turns an image into text itself on its other path.
    for name, ask in clients.all()[1:]:
        checks.refused(f"{name}: too many passages", lambda: ask(QUERY, ["p"] * 513), 400, "want at most 512 passages")
        checks.refused(f"{name}: body too large", lambda: ask(QUERY, ["y " * 30000] * 80), 413, "longer than the limit")
    checks.refused("litellm ranking: image passage", lambda: clients.litellm_ranking(QUERY, ["fine", {"image": "data:image/png;base64,AAAA"}]), 400, "passages[1].image: unknown field")


def check_failures(clients, checks, status, reason):
    for name, ask in clients.all():
        checks.refused(f"{name}: the server's failure is shown", lambda: ask(QUERY, PASSAGES), status, reason)


def main(base, model, status=None, reason=None):
    litellm.suppress_debug_info = True
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    clients, checks = Clients(base.rstrip("/"), model), Checks()
    if status:
        check_failures(clients, checks, int(status), reason)
    else:
        check_answers(clients, checks)
        check_top_k(clients, checks)
        check_refusals(clients, checks)
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 0 if checks.failed == 0 and checks.passed > 0 else 1


if __name__ == "__main__":
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

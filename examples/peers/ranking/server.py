"""The same mapping as the Go servers, as one would write it with FastAPI and pydantic 2: strict models, a sort, JSON."""
from typing import Annotated, Literal, Optional

from fastapi import FastAPI
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Text(Strict):
    text: Annotated[str, Field(min_length=1, max_length=65536)]


class Request(Strict):
    model: Optional[str] = None
    query: Text
    passages: Annotated[list[Text], Field(min_length=1, max_length=512)]
    truncate: Optional[Literal["NONE", "END"]] = None


class Ranking(BaseModel):
    index: int
    logit: float


class Answer(BaseModel):
    rankings: list[Ranking]


app = FastAPI()


def score(passage: str) -> float:
    return len(passage.encode()) % 97 - 48.5


@app.post("/v1/ranking")
async def rank(request: Request) -> Response:
    scores = [score(p.text) for p in request.passages]
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    answer = Answer(rankings=[Ranking(index=i, logit=scores[i]) for i in order])
    return Response(answer.model_dump_json(), media_type="application/json")

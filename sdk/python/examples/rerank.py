"""A reranker: puts what searches find into a better order.

    python rerank.py            prints `listening on 127.0.0.1:PORT`
    python rerank.py 7500 TOKEN

Name it in the configuration of the surface role:

    [surface.search.reranker]
    endpoint = "http://127.0.0.1:7500"

`score` below counts the words that the question and a tool share, so that this file needs nothing but the package. A cross-encoder
takes its place in two lines:

    model = sentence_transformers.CrossEncoder("cross-encoder/ms-marco-MiniLM-L6-v2")
    scores = model.predict([(request.query, text(tool)) for tool in request.candidates])
"""

import re
import sys
from concurrent import futures

import grpc

from toolplane.v1 import rerank_service_pb2 as rerank
from toolplane.v1 import rerank_service_pb2_grpc as rerank_grpc


def text(tool: rerank.RerankCandidate) -> str:
    return " ".join([tool.name, tool.title, tool.hint, tool.description])


def words(of: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", of.lower()))


def score(query: str, tool: rerank.RerankCandidate) -> float:
    asked, said = words(query), words(text(tool))
    return len(asked & said) / (len(asked) or 1)


class Reranker(rerank_grpc.RerankServiceServicer):
    def __init__(self, token: str) -> None:
        self.token = token

    def Rerank(self, request: rerank.RerankRequest, context: grpc.ServicerContext) -> rerank.RerankResponse:
        shown = dict(context.invocation_metadata()).get("authorization")
        if self.token and shown != f"Bearer {self.token}":
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "who are you?")
        scores = [(score(request.query, tool), tool.tool_id) for tool in request.candidates]
        best_first = sorted(scores, key=lambda one: -one[0])
        return rerank.RerankResponse(ranked=[rerank.RankedTool(tool_id=id, score=score) for score, id in best_first])


def main(port: str = "0", token: str = "") -> None:
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
    rerank_grpc.add_RerankServiceServicer_to_server(Reranker(token), server)  # type: ignore[no-untyped-call]
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    print(f"listening on 127.0.0.1:{bound}", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""What search engines call their settings, and what type of change each is. Pure.

Elasticsearch and OpenSearch (mappings, analysis, query DSL, knn, retrievers, search pipelines),
Solr (schema, solrconfig, request parameters), Vespa (schemas, rank profiles, services), Querqy.
Names are in lower case without `_` and `-`, so that `ef_construction`, `efConstruction` and
`ef-construction` are one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from relgate.eval.review.change import ChangeType

__all__ = ["BY_FILE", "KEYS", "NOT_SEARCH", "SEARCH_PATH", "VALUES", "WEAK", "plain_key"]

_T = ChangeType


def plain_key(key: str) -> str:
    """A key as the tables write it."""
    return re.sub(r"[_\-]", "", key).lower()


_WORDS: Mapping[ChangeType, str] = {
    _T.SYNONYMS: "synonym synonyms synonymspath synonymsset synonymset synonymgraph synonymsets",
    _T.ANALYZER: (
        "analysis analyzer analyzers searchanalyzer searchquoteanalyzer indexanalyzer tokenizer "
        "charfilter normalizer stemmer stopwords stopwordspath stopfilter keywordmarker "
        "decompound wordlist stemming normalizing linguistics multitermanalyzer ngram edgengram"
    ),
    _T.MAPPINGS: (
        "mappings properties dynamictemplates copyto multifields indexoptionsfield docvalues "
        "normsenabled fieldtype fieldtypes dynamicfield copyfield schemafield fieldset indexing "
        "positionincrementgap fielddata"
    ),
    _T.QUERY_TEMPLATE: (
        "multimatch matchphrase matchphraseprefix matchboolprefix combinedfields querystring "
        "simplequerystring dismax minimumshouldmatch tiebreaker functionscore scriptscore "
        "fieldvaluefactor fuzziness slop zeroterms zerotermsquery autogeneratesynonymsphrasequery "
        "qf pf pf2 pf3 ps mm bf bq uf deftype edismax yql rankprofile firstphase "
        "weakand nativerank rankproperties queryprofile boostmode scoremode query queries should "
        "must fields boost boosts match templates template source"
    ),
    _T.FILTER_LOGIC: "postfilter mustnot fq filterquery filters prefilter approximatethreshold",
    _T.HNSW_PARAMS: (
        "hnsw efconstruction efsearch numcandidates maxconnections beamwidth hnswmaxconnections "
        "hnswbeamwidth hnswm hnswefconstruction maxlinkspernode neighborstoexploreatinsert "
        "exploreadditionalhits targethits indexoptions ef m confidenceinterval oversample "
        "knnalgorithm codecformat"
    ),
    _T.EMBEDDING_MODEL: (
        "embeddingmodel defaultmodelid embeddermodel embeddingmodelid inferenceid textembedding "
        "fieldmap dims dimension dimensions vectordimension embedder transformermodel "
        "tokenizermodel huggingfaceembedder colbertembedder embed embeddings densevector modelname "
        "sentencetransformer"
    ),
    _T.HYBRID_WEIGHTS: (
        "rrf rankconstant rankwindowsize normalizationprocessor normalization combination weights "
        "hybrid reciprocalrankfusion scorerankerprocessor alpha linearretriever"
    ),
    _T.REWRITER: (
        "querqy rewriter rewriters rewritechain commonrules replacerewriter wordbreak "
        "querqyparser queryrewriter queryrewrite queryexpansion spellcheck"
    ),
    _T.RERANKER: (
        "rescore rescorer rescorequery windowsize rerank reranker rerankdepth rerankquery "
        "rerankdocs rerankweight rerankcount textsimilarityreranker sltr ltr crossencoder rq "
        "secondphase globalphase learningtorank rerankmodel"
    ),
}

KEYS: Mapping[str, ChangeType] = {
    word: kind for kind, words in _WORDS.items() for word in words.split()
}
"""Key -> type of change. `filter`, `model` and `weight` are told by what they stand in."""

_SHARED = """
query queries should must fields boost boosts match templates template source properties m ef
filters dimension dimensions embed normalization combination weights alpha slop indexing analysis
linguistics normalizer tokenizer ps mm bf rq ltr modelname windowsize hybrid mappings
dynamictemplates
"""
WEAK = frozenset(_SHARED.split())
"""Words that other software uses too: they count only in files that are about search."""

VALUES: tuple[tuple[re.Pattern[str], ChangeType], ...] = (
    (re.compile(r"synonym", re.IGNORECASE), _T.SYNONYMS),
    (re.compile(r"rerank|cross[-_]?encoder|LTRQParser|LearningToRank", re.IGNORECASE), _T.RERANKER),
    (re.compile(r"querqy", re.IGNORECASE), _T.REWRITER),
    (re.compile(r"embed|sentence[-_]transformers|tensor<", re.IGNORECASE), _T.EMBEDDING_MODEL),
)
"""What the values of `class`, `type`, `model`, `id` and their like tell."""

# The whole file is one thing, whatever stands in its lines.
BY_FILE: tuple[tuple[re.Pattern[str], ChangeType], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), kind)
    for pattern, kind in (
        (r"(^|/)[^/]*synonym[^/]*\.(txt|csv|tsv|json|ya?ml|syn)$", _T.SYNONYMS),
        (r"(^|/)[^/]*(stop_?words?|protwords|stemdict)[^/]*\.(txt|csv)$", _T.ANALYZER),
        (r"\.(dic|aff)$", _T.ANALYZER),
        (r"(^|/)mapping-[^/]*\.txt$", _T.ANALYZER),  # Solr's character mappings
        (r"(^|/)[^/]*(querqy|rewrit|common_?rules)[^/]*\.(txt|json|ya?ml|rules)$", _T.REWRITER),
        (r"(^|/)[^/]*(rerank|model-store|feature-store)[^/]*\.(txt|json|ya?ml|xml)$", _T.RERANKER),
        (r"\.(mustache)$", _T.QUERY_TEMPLATE),
        (r"(^|/)[^/]*(query|search)[-_]?templates?[^/]*(/[^/]*)*\.(json|ya?ml|txt)$",
         _T.QUERY_TEMPLATE),
        (r"(^|/)query-profiles/[^/]*\.xml$", _T.QUERY_TEMPLATE),
    )
)  # fmt: skip

SEARCH_PATH = re.compile(
    r"elastic|opensearch|solr|vespa|search|index|mapping|schema|analy[sz]|quer(y|ies)|knn|vector|"
    r"relevanc|rank|embed|hnsw|\.sd$",
    re.IGNORECASE,
)
"""Paths that are about search; in others a weak word tells nothing."""

NOT_SEARCH = re.compile(
    r"\.(md|rst|adoc|markdown|png|jpe?g|gif|svg|pdf|ipynb|lock|css|html?)$|(^|/)(LICENSE|NOTICE|"
    r"AUTHORS|CHANGELOG|README)[^/]*$|(^|/)\.(github|circleci|vscode|idea)/|(^|/)(package(-lock)?|"
    r"tsconfig[^/]*|composer)\.json$|(^|/)\.?gitlab-ci[^/]*$|(^|/)docker-compose[^/]*$",
    re.IGNORECASE,
)
"""Files that configure no engine: prose, pictures, build and CI files."""

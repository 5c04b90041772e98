#!/usr/bin/env bash
# Trains the cases of tests/arm/bits.py on this processor and under an emulated ARM64, and compares
# what they print: Debian's qemu-user and arm64 Python, PyPI's aarch64 wheels. Takes some minutes.
#   PYTHON=.venv/bin/python bash tests/arm.sh FOLDER
set -eu
mkdir -p "${1:?a folder for what is downloaded}"
folder=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
python=$(realpath -s "${PYTHON:-python3}")
export PYTHONPATH=$root
cd "$folder"
mkdir -p debs system wheels site

if ! command -v qemu-aarch64 > /dev/null || ! ls debs/*.deb > /dev/null 2>&1; then
  dpkg --add-architecture arm64
  apt-get update -qq
  apt-get install -y -qq qemu-user
  minor=$("$python" -c 'import sys; print(f"3.{sys.version_info.minor}")')
  (cd debs && apt-get download -qq "python$minor-minimal:arm64" "libpython$minor-minimal:arm64" \
    "libpython$minor-stdlib:arm64" libc6:arm64 libgcc-s1:arm64 libstdc++6:arm64 zlib1g:arm64 \
    libexpat1:arm64 libssl3:arm64 libffi8:arm64 libbz2-1.0:arm64 liblzma5:arm64 \
    libsqlite3-0:arm64 libuuid1:arm64 libcrypt1:arm64)
  for package in debs/*.deb; do dpkg -x "$package" system; done
fi
version() { "$python" -c "from importlib.metadata import version; print(version('$1'))"; }
"$python" -m pip download -q --no-deps --only-binary=:all: -d wheels \
  --platform manylinux2014_aarch64 --platform manylinux_2_17_aarch64 \
  --platform manylinux_2_27_aarch64 --platform manylinux_2_28_aarch64 \
  "numba==$(version numba)" "llvmlite==$(version llvmlite)" "numpy==$(version numpy)"
for wheel in wheels/*.whl; do "$python" -m zipfile -e "$wheel" site; done

"$python" "$root/tests/arm/bits.py" prepare cases.npz
AMOL_CACHE=$folder/cache "$python" "$root/tests/arm/bits.py" cases.npz | tee here.txt
qemu-aarch64 -L system -E PYTHONPATH="$folder/site" -E AMOL_CACHE="$folder/cache" \
  "$(ls system/usr/bin/python3.*)" "$root/tests/arm/bits.py" cases.npz | tee arm64.txt
diff here.txt arm64.txt && echo "Equal on $(uname -m) and emulated ARM64."

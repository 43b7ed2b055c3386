# Everything in one image; the packages of Python are those of the lock:
#   docker build -t anonpaper . && docker run --rm -p 8888:8888 anonpaper
# Another command runs in the project's folder: docker run --rm anonpaper make test
FROM python:3.11-slim-bookworm

RUN apt-get update \
    && apt-get install --yes --no-install-recommends git make \
    && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home reader && install -d -o reader /srv/anonpaper
USER reader
WORKDIR /srv/anonpaper

# the packages change less often than the code: an edit of the code installs none of them again
COPY --chown=reader requirements.lock Makefile ./
COPY --chown=reader tools/environment.sh tools/
RUN make .venv/.packages-installed

COPY --chown=reader . .
RUN make env
EXPOSE 8888
CMD [".venv/bin/python", "-m", "jupyter", "lab", "--ip=0.0.0.0", "--no-browser", "--notebook-dir=notebooks"]

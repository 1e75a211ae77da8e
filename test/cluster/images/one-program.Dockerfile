# Image with one static program and nothing else.
FROM scratch
ARG PROGRAM
COPY ${PROGRAM} /program
USER 65532:65532
ENTRYPOINT ["/program"]

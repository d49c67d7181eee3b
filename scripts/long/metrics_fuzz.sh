#!/usr/bin/env bash
# Bytes of a client into the server of the tracer heterometrics under libFuzzer (./check.sh --long metrics_fuzz [MINUTES]), by socket pairs:
# 30 CPU-minutes. scripts/long/fuzz.sh with its target alone.
exec "$(dirname "$0")/fuzz.sh" "${1:-30}" metrics_http

"""The AWS CLI in a process that runs one command after the other: starting Python for each takes most of the time.

Reads a JSON list of arguments a line, as they would stand behind `aws`; answers with `[exit code, output, errors]`.
A process of its own, since the CLI puts its own botocore in the place of boto3's. The first line tells what it knows:
`[version, operations of Kinesis]`.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from typing import Any

import awscli
from awscli.clidriver import create_clidriver


def run(arguments: list[str]) -> list[Any]:
    out, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            code = create_clidriver().main(arguments)
        except SystemExit as ended:
            code = ended.code
    return [code, *(stream.buffer.getvalue().decode() for stream in (out, errors))]


def main() -> None:
    model = create_clidriver().session.get_service_model("kinesis")
    print(json.dumps([awscli.__version__, list(model.operation_names)]), flush=True)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

"""Run the AWS CLI in one process for many commands, because the start of Python takes most of the time of a
command.

Reads one JSON list of arguments per line, as they follow `aws`, and answers with `[exit code, output, errors]`. It
is a separate process, because the CLI replaces boto3's botocore with its own. The first line of output is
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

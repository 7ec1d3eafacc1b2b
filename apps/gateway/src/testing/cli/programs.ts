// Which programs a list of scenarios is tried with.
import { existsSync } from "node:fs";
import { CLI_KINDS, type CliKind } from "../../config/harness.ts";

const VARIABLES: Record<CliKind, string> = {
  "codex-cli": "CLEW_TEST_CODEX",
  "claude-cli": "CLEW_TEST_CLAUDE",
};

export const PROGRAMS: { program: string; kind: CliKind; binary: string | undefined }[] =
  CLI_KINDS.flatMap((kind) => {
    const fake = { program: `what stands in for ${kind}`, kind, binary: undefined };
    const binary = process.env[VARIABLES[kind]];
    if (binary !== undefined && existsSync(binary))
      return [fake, { program: `the real ${kind}`, kind, binary }];
    console.log(`${VARIABLES[kind]} names no program: the real ${kind} is not tried.`);
    return [fake];
  });

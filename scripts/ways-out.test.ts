import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sourceFiles } from "./where.ts";

const GATEWAY = "apps/gateway";
/** What people, and other sessions' models, are told by. */
const SURFACES = /^apps\/gateway\/(?:web|src\/(?:http|cli|terminal|subagents))\//;
/** Gives stored entries as they are stored. */
const READS_STORED =
  /\.branch\b|\bbranch\(|\breadTranscript\(|\breadBranch\(|\b(?:store|known)\.read\(/;
/** What a surface may import to show them. */
const PROJECTS = /\/sessions\/shown\.ts"/;

/** Why a surface reads entries that it does not show. */
const SHOWS_NONE: Readonly<Record<string, string>> = {
  "src/cli/engines/retry.ts": "tells how deliveries stand",
  "src/cli/find-recording.ts": "finds what is replayed",
  "src/cli/inspect/inspect.ts": "tells what models were sent, by the inspector's rows",
  "src/cli/policy.ts": "tells what a provider would refuse, by rule and place",
  "src/cli/repair.ts": "tells whether a file can be read",
  "src/cli/replay.ts": "plays it again, and tells counts",
  "src/cli/sessions/fork.ts": "copies it into another session",
};

const read = (path: string) => readFileSync(path, "utf8");

describe("what is stored of a session", () => {
  const files = sourceFiles()
    .map(({ path }) => path)
    .filter((path) => path.startsWith(`${GATEWAY}/`) && !path.includes(".test."));

  it("becomes fit to be shown in one file only", () => {
    const makers = files.filter((path) => /\bas (?:unknown as )?ShownEntry\b/.test(read(path)));
    expect(makers).toEqual([`${GATEWAY}/src/sessions/shown.ts`]);
  });

  it("leaves the gateway by no way around that file", () => {
    const around = files
      .filter((path) => SURFACES.test(path) && READS_STORED.test(read(path)))
      .filter((path) => !PROJECTS.test(read(path)));
    expect(around).toEqual(Object.keys(SHOWS_NONE).map((path) => `${GATEWAY}/${path}`));
  });

  it("is streamed while it is made through the same projection", () => {
    const streams = files.filter((path) => /\bTurnEvent\b/.test(read(path)) && SURFACES.test(path));
    expect(streams).not.toEqual([]);
    const unprojected = streams.filter((path) => !/\bshownEvent\b/.test(read(path)));
    expect(unprojected).toEqual([]);
  });
});

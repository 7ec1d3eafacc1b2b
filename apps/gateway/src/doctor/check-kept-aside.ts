// Finds files beside sessions that hold what repairs took out, or that killed repairs left.
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { findRepairLeftovers } from "@clew/transcript-policy/session-file";
import { findAbandoned, removeAbandoned } from "../imports/draft-files.ts";
import { counted } from "../text/number.ts";
import type { Finding, FindingCode } from "./finding.ts";

interface KeptAsideRequest {
  /** Where the session files of the agent are. */
  folder: string;
  agentId: string;
  fix: boolean;
}

const KEPT = /\.jsonl\.(?:removed|torn|original)-/;

export async function checkKeptAside(request: KeptAsideRequest): Promise<Finding[]> {
  return [
    ...(await checkLeftovers(request, REPAIRS)),
    ...(await checkLeftovers(request, IMPORTS)),
    ...(await tellWhatIsKept(request)),
  ];
}

interface LeftoverKind {
  find(folder: string): Promise<readonly string[]>;
  remove(folder: string): Promise<void>;
  whose: string;
  codes: { found: FindingCode; repaired: FindingCode };
}

const REPAIRS: LeftoverKind = {
  find: findRepairLeftovers,
  async remove(folder) {
    for (const file of await findRepairLeftovers(folder)) await rm(file, { force: true });
  },
  whose: "repairs",
  codes: { found: "repair-leftovers", repaired: "repair-leftovers-removed" },
};

const IMPORTS: LeftoverKind = {
  find: findAbandoned,
  remove: removeAbandoned,
  whose: "imports",
  codes: { found: "import-leftovers", repaired: "import-leftovers-removed" },
};

async function checkLeftovers(
  { folder, agentId, fix }: KeptAsideRequest,
  { find, remove, whose, codes }: LeftoverKind,
): Promise<Finding[]> {
  const leftovers = await find(folder);
  if (leftovers.length === 0) return [];
  if (fix) await remove(folder);
  const what = `${counted(leftovers.length, "file")} of ${whose} that were killed`;
  const subject = `sessions of ${agentId}`;
  return fix
    ? [
        {
          ...{ level: "note", code: codes.repaired, subject, isRepair: true },
          text: `${what}: removed`,
        },
      ]
    : [
        {
          ...{ level: "warning", code: codes.found, subject },
          text: `${what} in ${folder}; run "clew doctor --fix"`,
        },
      ];
}

async function tellWhatIsKept({ folder, agentId }: KeptAsideRequest): Promise<Finding[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => KEPT.test(name));
  if (names.length === 0) return [];
  const found = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => null)));
  const bytes = found.reduce((sum, file) => sum + (file?.size ?? 0), 0);
  const subject = `sessions of ${agentId}`;
  const text = `${counted(names.length, "file")} in ${folder} (${names.sort()[0]}${names.length > 1 ? " and others" : ""}; ${counted(bytes, "byte")}) hold what repairs took out of sessions; look at them, and delete what you do not need`;
  return [{ level: "note", code: "sessions-kept-aside", subject, text }];
}

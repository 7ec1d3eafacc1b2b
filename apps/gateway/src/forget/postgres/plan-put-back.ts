// Decides what a database has otherwise once something was forgotten in a copy of it.
import { isJobPlace } from "../../storage/copy/job-texts.ts";
import { planPlace } from "../../storage/copy/plan-place.ts";
import type { ScratchRecord } from "./scratch-record.ts";

type Known = ScratchRecord["sessions"][number];

export interface PlannedPutBack {
  /** Sessions that go whole. */
  removed: Known[];
  /** Those that say something else by now. */
  changed: Known[];
  /** What reports named, by agent. */
  parts: Map<string, string[]>;
  /** Files of no session that say something else, or are gone. */
  places: Set<string>;
  /** Jobs of whose runs some are gone, by their ids. */
  jobs: string[];
}

/**
 * Pure. `files`: as they are now. `rows`: of each session, as `Known.rows`. `removed`: sessions of
 * which all was forgotten.
 */
export function planPutBack(
  record: Pick<ScratchRecord, "sessions" | "files">,
  now: {
    files: Readonly<Record<string, string>>;
    rows(session: Known): string | null;
    removed: readonly { agentId: string; sessionId: string }[];
  },
): PlannedPutBack {
  const places = new Set(
    [...Object.keys(record.files), ...Object.keys(now.files)].filter(
      (place) => record.files[place] !== now.files[place],
    ),
  );
  const touched = new Set<string>();
  const parts = new Map<string, string[]>();
  for (const place of [...places]) {
    const [, agentId = "", ...path] = place.split("/");
    if (isJobPlace(place)) continue;
    const planned = planPlace(path);
    if (planned.kind === "part") {
      if (now.files[place] === undefined)
        parts.set(agentId, [...(parts.get(agentId) ?? []), planned.hash]);
    } else if (planned.kind === "transcript" || planned.kind === "of-session")
      touched.add(idOf({ agentId, sessionId: planned.sessionId }));
    else continue;
    places.delete(place);
  }
  const gone = new Set(now.removed.map(idOf));
  return {
    removed: record.sessions.filter((each) => gone.has(idOf(each))),
    changed: record.sessions.filter(
      (each) => !gone.has(idOf(each)) && (touched.has(idOf(each)) || now.rows(each) !== each.rows),
    ),
    ...{ parts, places },
    jobs: [...places].flatMap((place) => /^cron\/([^/]+)\.runs\.jsonl$/.exec(place)?.[1] ?? []),
  };
}

const idOf = ({ agentId, sessionId }: { agentId: string; sessionId: string }): string =>
  `${agentId}\n${sessionId}`;

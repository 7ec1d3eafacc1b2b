// Conformance cases of random sessions in which what is rare happens often.
import type { ConformanceCase } from "../case.ts";
import {
  explore,
  exploreCompacted,
  exploreKills,
  exploreLong,
  exploreMany,
  explorePast,
  exploreSizes,
} from "../sessions/explore.ts";
import { KINDS } from "../sessions/kinds.ts";

export const sessionCases: readonly ConformanceCase[] = [
  ...KINDS.map(
    ({ name, title, rule, weather }, salt): ConformanceCase => ({
      id: `sessions/${name}`,
      group: "sessions",
      title,
      rule,
      run: (context) => explore(context, weather, salt),
    }),
  ),
  {
    id: "sessions/long",
    group: "sessions",
    title: "shows and keeps of a session of many turns what it shows and keeps of a short one",
    rule: "Records one message, whatever its role and content.",
    run: exploreLong,
  },
  {
    id: "sessions/past",
    group: "sessions",
    title:
      "takes in all of a session that was long before there was the engine, or answers why not",
    rule: "Absent: turns from before the engine was selected are seen in `assemble` only.",
    run: explorePast,
  },
  {
    id: "sessions/sizes",
    group: "sessions",
    title:
      "shows and keeps very long output and replies as it does short ones, or says what is cut",
    rule: "A message that is shown is shown as it was said, or it is cut and says so.",
    run: exploreSizes,
  },
  {
    id: "sessions/after-compaction",
    group: "sessions",
    title: "still shows what a compaction left, however many turns came after it",
    rule: "A summary of the host's compaction stays, however old, since what it stands for is nowhere else; or the view says that there is more.",
    run: exploreCompacted,
  },
  {
    id: "sessions/many",
    group: "sessions",
    title: "keeps and shows of each of many sessions what it does of a few",
    rule: "No session shows anything of another.",
    run: exploreMany,
  },
  {
    id: "sessions/kills",
    group: "sessions",
    title:
      "has all that it acknowledged when it is killed at once, if it keeps anything for longer",
    rule: "A turn told again, also after a crash, adds nothing.",
    run: exploreKills,
  },
];

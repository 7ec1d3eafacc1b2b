// The lossless engine in random lives of a session, with everything that may go wrong in them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLosslessEngine } from "@clew/lossless-engine";
import { messageId } from "@clew/plugin-sdk/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  commands,
  openWorld,
  restart,
  say,
  setups,
} from "../../../../packages/engine-core/src/trials/__fixtures__/commands.ts";
import {
  contentOf,
  currentSession,
  messageEntries,
  readBranch,
  recordOf,
} from "../../../../packages/engine-core/src/trials/__fixtures__/disk.ts";
import type { EngineShape } from "../../../../packages/engine-core/src/trials/__fixtures__/engine-shape.ts";
import { losslessRows } from "../testing/lossless-rows.ts";

const shapeFor = (home: string, durableTurns: boolean): EngineShape => ({
  ...{ id: "lossless", takes: durableTurns ? "commitTurn" : "afterTurn", bootstraps: "never" },
  ...{ compacts: "covers", ownsCompaction: true, returns: "given", inBackground: false },
  instead: createLosslessEngine({ agentDir: join(home, "agents/main") }, { durableTurns }),
});

/** What a host cut out of a stored message since. */
const plain = (content: string) => content.replaceAll(" [cut]", "");

describe("whatever happens to a session", () => {
  it.each([false, true])(
    "the lossless engine keeps every message of it once, as it was said (committed turns: %s)",
    async (durableTurns) => {
      await fc.assert(
        fc.asyncProperty(setups, commands(["lossless", "reads"]), async (setup, life) => {
          const home = mkdtempSync(join(tmpdir(), "clew-life-"));
          const shape = shapeFor(home, durableTurns);
          try {
            const engines = [shape, setup.engines.find(({ id }) => id === "reads")!];
            const first =
              setup.first === "reads" || setup.first === "legacy" ? setup.first : "lossless";
            const world = openWorld({ ...setup, engines, first });
            await fc.asyncModelRun(() => ({ model: {}, real: world }), life);
            restart(world, "lossless");
            const { result } = await say(world, { kind: "user", tools: 0, oneByOne: false });
            if (result?.outcome !== "completed") return;
            const session = currentSession(world.disk);
            const parked = world.disk.deliveries.parked(recordOf(world.disk, session), "lossless");
            // This host keeps no file to read: nobody tells of what was said before.
            const { before } = world.known.get("lossless")!;
            const owed = messageEntries(readBranch(world.disk, session.sessionFile)).filter(
              ({ message }) => !before?.has(messageId(message)!),
            );
            const rows = losslessRows(home);
            const stored = new Map(rows.map(({ id, message }) => [id, message]));
            const places = rows.map(({ id, conversation }) => `${conversation} ${id}`);
            expect(new Set(places).size).toBe(rows.length);
            for (const { message } of parked.size > 0 ? [] : owed) {
              const kept = stored.get(messageId(message)!);
              expect([messageId(message), kept && plain(contentOf(kept))]).toEqual([
                messageId(message),
                plain(contentOf(message)),
              ]);
            }
          } finally {
            await shape.instead!.dispose?.();
            rmSync(home, { recursive: true, force: true });
          }
        }),
        { numRuns: fc.readConfigureGlobal().numRuns! / 2 },
      );
    },
  );
});

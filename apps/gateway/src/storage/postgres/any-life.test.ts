// Random lives of a session that is in PostgreSQL, after each step of which every law must hold.
import type { DeliveryLedger, TranscriptStep } from "@clew/engine-core";
import {
  openPostgresStore,
  type PostgresStore,
  type PostgresTranscript,
} from "@clew/store-postgres";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  commands,
  openWorld,
  setups,
} from "../../../../../packages/engine-core/src/trials/__fixtures__/commands.ts";
import {
  currentSession,
  readBranch,
  recordOf,
} from "../../../../../packages/engine-core/src/trials/__fixtures__/disk.ts";
import {
  type OpenTranscript,
  rememberKind,
} from "../../../../../packages/engine-core/src/trials/__fixtures__/disk-transcript.ts";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { POSTGRES_PORTS } from "./ports.ts";

type Opened = PostgresTranscript<DeliveryLedger>;

const ENGINES = ["reads", "given", "durable"];
const FEWER = { numRuns: fc.readConfigureGlobal().numRuns! / 4 };

/**
 * Opens transcripts in the database. What they hold is shown on the disk as soon as it is stored:
 * that is where the laws look. A process that died has given its sessions up.
 */
function openIn(store: PostgresStore<DeliveryLedger>, life: string) {
  const opened = new Map<string, Opened>();
  /** Openings and writes of processes that may have died since. */
  const underWay = new Set<Promise<unknown>>();
  const keyOf = (sessionId: string) => `${life} ${sessionId}`;
  const open: OpenTranscript = (disk, session, owner) => {
    const { sessionId, sessionFile: file } = session;
    const key = keyOf(sessionId);
    let real = undefined as unknown as Opened;
    const ready = (async () => {
      await Promise.allSettled(underWay);
      await opened.get(key)?.close();
      real = await store.open({ agentId: "main", key });
      opened.set(key, real);
      // What an engine began for the session when it compacted it.
      const entries = real.exists() ? [] : readBranch(disk, file);
      if (entries.length > 0) await real.graft({ keep: 0, leafId: null, entries });
    })();
    underWay.add(ready);
    void ready.finally(() => underWay.delete(ready));

    /** What was stored since, in the order of the log. */
    async function show(): Promise<void> {
      const lines = disk.files.get(file) ?? [];
      const known = new Set(lines.map((line) => (JSON.parse(line) as { id: string }).id));
      for (const entry of (await real.read({ after: null })) ?? []) {
        if (known.has(entry.id)) continue;
        rememberKind(disk, { branch: readBranch(disk, file), entry, owner });
        lines.push(JSON.stringify(entry));
        disk.files.set(file, lines);
        disk.leaves.delete(file);
      }
    }
    /** Stored and shown, whether its process lives on or not. */
    async function whole<Result>(write: () => Promise<Result>): Promise<Result> {
      const work = write().then(async (result) => {
        await show();
        return result;
      });
      underWay.add(work);
      return work.finally(() => underWay.delete(work));
    }
    const record = recordOf(disk, session);
    const { sessionFile: _notTold, ...nameless } = session;
    return {
      ready,
      session: nameless,
      exists: () => real.exists(),
      branch: () => readBranch(disk, file),
      async read(part) {
        const answer = await real.read(part);
        await owner.reading?.();
        return answer;
      },
      async append(entries) {
        await owner.step("append");
        const written = await whole(() => real.append(entries));
        await owner.step("append:done");
        return written;
      },
      async appendStep(step: TranscriptStep) {
        await owner.step("append");
        const written = await whole(async () => {
          const stored = await real.appendStep(step);
          for (const { engineId, change } of step.deliveries)
            disk.deliveries.write(record, engineId, change);
          return stored;
        });
        await owner.step("append:done");
        return written;
      },
      async rewrite(request) {
        await owner.step("rewrite");
        const result = await whole(() => real.rewrite(request));
        await owner.step("rewrite:done");
        return result;
      },
      async moveLeaf(entryId) {
        const branch = (await real.read({ after: null })) ?? [];
        const keep = branch.findIndex(({ id }) => id === entryId) + 1;
        await real.graft({ keep, leafId: branch.at(-1)?.id ?? null, entries: [] });
        disk.leaves.set(file, entryId);
      },
      deliveries: {
        read: (engineId) => real.deliveries.read(engineId),
        engines: () => real.deliveries.engines(),
        async save(engineId, change) {
          await owner.step("deliveries");
          await whole(async () => {
            await real.deliveries.save(engineId, change);
            disk.deliveries.write(record, engineId, change);
          });
          await owner.step("deliveries:done");
        },
      },
    };
  };
  /** The session as another opening finds it, after all were closed. */
  async function reopened(sessionId: string): Promise<Opened> {
    await Promise.allSettled(underWay);
    for (const each of opened.values()) await each.close();
    return store.open({ agentId: "main", key: keyOf(sessionId) });
  }
  return { open, reopened };
}

describe.skipIf(whyNoPostgres() !== null)(`whatever happens to a session ${UNLESS_THERE}`, () => {
  let store: PostgresStore<DeliveryLedger>;
  let lives = 0;
  beforeAll(async () => {
    const url = await testDatabase();
    // It must not count as dead on a busy machine.
    const ttlMs = 120_000;
    store = await openPostgresStore({
      url,
      address: "http://127.0.0.1:1",
      ports: POSTGRES_PORTS,
      ttlMs,
    });
  });
  afterAll(() => store?.close());

  it("each engine is told everything once, in order, and the report says what happened", async () => {
    await fc.assert(
      fc.asyncProperty(setups, commands(ENGINES), async (setup, life) => {
        const { open, reopened } = openIn(store, `life ${lives++}`);
        const world = openWorld({
          ...setup,
          ...{ open, storesSteps: true, recordsBy: "transcript", tellsFiles: false },
        });
        await fc.asyncModelRun(() => ({ model: {}, real: world }), life);
        const session = currentSession(world.disk);
        const again = await reopened(session.sessionId);
        const branch = readBranch(world.disk, session.sessionFile);
        expect(await again.read({ tail: branch.length + 1 })).toEqual(branch);
        for (const engineId of again.deliveries.engines()) {
          const known = again.deliveries.read(engineId)!.acknowledged;
          const shown = world.disk.deliveries.acknowledged(session.sessionId, engineId);
          expect([...shown].filter((id) => !known.has(id))).toEqual([]);
        }
        await again.close();
      }),
      FEWER,
    );
  });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { ROLE } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { memoryTranscript } from "../__fixtures__/host.ts";
import { createDeliveryLedger } from "../session/delivery-ledger.ts";
import type { SuccessorPort, TranscriptPort } from "../transcript-port.ts";
import { type DatabaseTranscript, openDatabase } from "./__fixtures__/database.ts";
import type { TranscriptStoreUnderTest } from "./store-under-test.ts";
import { testTranscriptStore } from "./transcript-store.ts";

const WRITER = fileURLToPath(new URL("__fixtures__/step-writer.ts", import.meta.url));

const inMemory = (change: Partial<TranscriptPort> = {}) => ({
  open: async () => ({ ...memoryTranscript(), deliveries: createDeliveryLedger(), ...change }),
});

/** Names of the rules that a store breaks. */
async function brokenBy(create: Parameters<typeof testTranscriptStore>[0]["create"]) {
  const broken: string[] = [];
  const runs: Promise<void>[] = [];
  testTranscriptStore({
    create,
    test: (name, run) => runs.push(run().catch(() => void broken.push(name))),
  });
  await Promise.all(runs);
  return broken;
}

describe("the transcript in memory", () => {
  testTranscriptStore({
    test: it,
    create: () => ({ ...inMemory(), beginSuccessor: async () => successorInMemory() }),
  });
});

describe("a store that is one database", () => {
  testTranscriptStore({ test: it, create: () => inDatabase() });
});

function successorInMemory() {
  const successor = { ...memoryTranscript([], "moved-"), deliveries: createDeliveryLedger() };
  Object.assign(successor.session, { sessionId: "session-2" });
  return {
    sessionId: "session-2",
    async adopt({ prepare }: Parameters<SuccessorPort["adopt"]>[0]) {
      await prepare(successor);
      return successor;
    },
  };
}

function inDatabase(
  change: (real: DatabaseTranscript) => Partial<TranscriptPort> = () => ({}),
): TranscriptStoreUnderTest {
  const file = join(mkdtempSync(join(tmpdir(), "engine-core-")), "sessions.db");
  let opened: DatabaseTranscript | undefined;
  const kill = async (mode: "entries" | "steps") => {
    const node = ["--conditions=@clew/source", "--disable-warning=ExperimentalWarning"];
    const child = spawn(process.execPath, [...node, WRITER, file, mode]);
    const ended = once(child, "exit");
    let stored = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      stored = Number(line);
      if (stored === 20) child.kill("SIGKILL");
    }
    await ended;
    return stored;
  };
  return {
    async open() {
      opened = openDatabase(file);
      return Object.assign(opened, change({ ...opened }));
    },
    killWriter: () => kill("entries"),
    killStepWriter: () => kill("steps"),
    beginSuccessor: async () => ({
      sessionId: "session-2",
      async adopt({ sessionId, prepare }) {
        const successor = opened!.at(sessionId);
        await prepare(successor);
        opened!.moveTo(sessionId);
        return successor;
      },
    }),
  };
}

describe("a store that breaks a rule", () => {
  it.each([
    [
      "answers the whole branch always",
      (real: TranscriptPort): Partial<TranscriptPort> => ({
        read: () => real.read({ after: null }),
      }),
      "answers what follows an entry",
    ],
    [
      "makes entries anew at every read",
      (real) => ({
        read: async (part) => structuredClone(await real.read(part)),
      }),
      "gives the same entries at every read",
    ],
    [
      "says that somebody else speaks in what it reads late",
      (real) => ({
        async read(part) {
          const found = await real.read(part);
          return found?.map((entry) => ({ ...entry, [ROLE]: "assistant" as const })) ?? null;
        },
      }),
      "says of an entry that it reads late",
    ],
    [
      "forgets the new ids of a rewrite",
      (real) => ({
        rewrite: async (request) => {
          const { remapped: _gone, ...result } = await real.rewrite(request);
          return result;
        },
      }),
      "rewrites by appending the suffix again",
    ],
    ["says it exists before it does", () => ({ exists: () => true }), "exists from the first"],
    [
      "keeps no ledger entry",
      () => ({
        deliveries: { ...createDeliveryLedger(), save: async () => {} },
      }),
      "keeps what each engine acknowledged",
    ],
  ] satisfies [string, (real: TranscriptPort) => Partial<TranscriptPort>, string][])(
    "%s",
    async (_what, change, rule) => {
      const broken = await brokenBy(() => {
        const real = memoryTranscript();
        const deliveries = createDeliveryLedger();
        return { open: async () => ({ ...real, deliveries, ...change(real) }) };
      });
      expect(broken).toContainEqual(expect.stringContaining(rule));
    },
  );

  it.each([
    [
      "stores the parts of a step one by one",
      (real: DatabaseTranscript): Partial<TranscriptPort> => ({
        async appendStep({ entries, deliveries }) {
          for (const { engineId, change } of deliveries)
            await real.deliveries!.save(engineId, change);
          return real.append(entries);
        },
      }),
      "keeps nothing of a step",
    ],
    [
      "forgets the acknowledgements of a step",
      (real) => ({ appendStep: ({ entries }) => real.append(entries) }),
      "shows the entries and the acknowledgements of a step together",
    ],
    [
      "counts what it did not store",
      (real) => ({
        appendStep(step) {
          real.deliveries!.take(step.deliveries);
          return real.appendStep!({ ...step, deliveries: [] });
        },
      }),
      "keeps nothing of a step",
    ],
  ] satisfies [string, (real: DatabaseTranscript) => Partial<TranscriptPort>, string][])(
    "%s",
    async (_what, change, rule) => {
      const broken = await brokenBy(() => inDatabase(change));
      expect(broken).toContainEqual(expect.stringContaining(rule));
    },
  );

  it("moves a session without what its engines know", async () => {
    const broken = await brokenBy(() => ({
      ...inMemory(),
      beginSuccessor: async () => ({
        ...successorInMemory(),
        adopt: (move) => successorInMemory().adopt({ ...move, prepare: async () => {} }),
      }),
    }));
    expect(broken).toEqual([expect.stringContaining("carries what engines know")]);
  });
});

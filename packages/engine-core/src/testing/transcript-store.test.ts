import { describe, expect, it } from "vitest";
import { memoryTranscript } from "../__fixtures__/host.ts";
import type { TranscriptPort } from "../ports.ts";
import { createDeliveryLedger } from "../session/delivery-ledger.ts";
import { testTranscriptStore } from "./transcript-store.ts";

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
  testTranscriptStore({ test: it, create: () => inMemory() });
});

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
});

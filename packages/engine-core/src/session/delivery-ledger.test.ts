import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DeliveryChange, DeliveryPort } from "../delivery-port.ts";
import { createDeliveryLedger, planCarriedDeliveries } from "./delivery-ledger.ts";

const ids = ["a", "b", "c", "d"];
const engines = ["one", "two"];

const anyId = fc.constantFrom(...ids);
const anyChange: fc.Arbitrary<DeliveryChange> = fc.oneof(
  fc.record({
    kind: fc.constant("seen" as const),
    root: fc.constant("root"),
    ids: fc.uniqueArray(anyId),
  }),
  fc.record({ kind: fc.constant("acknowledged" as const), ids: fc.uniqueArray(anyId) }),
  fc.record({
    kind: fc.constant("refused" as const),
    turnId: anyId,
    reason: fc.constantFrom("busy", "full"),
    version: fc.constantFrom("1", "2", null),
  }),
  fc.record({ kind: fc.constant("retry" as const), turnId: anyId }),
);
const anyLines = fc.array(fc.record({ engineId: fc.constantFrom(...engines), change: anyChange }), {
  maxLength: 12,
});

async function carry(from: DeliveryPort, to: DeliveryPort, there: readonly string[]) {
  const lines = planCarriedDeliveries(from, to, there);
  for (const { engineId, change } of lines) await to.save(engineId, change);
  return lines;
}

describe("what a successor's ledger is given", () => {
  it("is everything that engines know of its messages, and nothing the second time", async () => {
    await fc.assert(
      fc.asyncProperty(anyLines, fc.uniqueArray(anyId), async (earlier, there) => {
        const from = createDeliveryLedger({ earlier });
        const to = createDeliveryLedger();
        await carry(from, to, there);
        expect(to.engines()).toEqual(from.engines());
        for (const engineId of from.engines()) {
          const [before, after] = [from.read(engineId)!, to.read(engineId)!];
          const isThere = (id: string) => there.includes(id);
          expect(after.root).toBe(before.root);
          expect([...after.acknowledged].sort()).toEqual(
            [...before.acknowledged].filter(isThere).sort(),
          );
          expect(new Map([...after.refused].sort())).toEqual(
            new Map([...before.refused].filter(([id]) => isThere(id)).sort()),
          );
        }
        expect(await carry(from, to, there)).toEqual([]);
      }),
    );
  });

  it("counts the attempts of each version by themselves", async () => {
    const refused = (version: string) => ({
      kind: "refused" as const,
      turnId: "a",
      reason: "",
      version,
    });
    const earlier = (versions: readonly string[]) =>
      versions.map((version) => ({ engineId: "one", change: refused(version) }));
    const from = createDeliveryLedger({ earlier: earlier(["2", "2", "2"]) });
    const to = createDeliveryLedger({ earlier: earlier(["1", "1"]) });
    await carry(from, to, ["a"]);
    expect(to.read("one")?.refused.get("a")).toMatchObject({ attempts: 3, version: "2" });
  });

  it("includes what was acknowledged since it was prepared the first time", async () => {
    const from = createDeliveryLedger();
    const to = createDeliveryLedger();
    await from.save("one", { kind: "seen", root: "root", ids: ["a"] });
    await carry(from, to, ["a", "b"]);
    await from.save("one", { kind: "acknowledged", ids: ["b"] });
    await carry(from, to, ["a", "b"]);
    expect([...to.read("one")!.acknowledged]).toEqual(["a", "b"]);
  });
});

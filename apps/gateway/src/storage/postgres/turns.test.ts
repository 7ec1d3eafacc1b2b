import type { DeliveryLedger } from "@clew/engine-core";
import { openPostgresStore, type PostgresStore, type RoundTrip } from "@clew/store-postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  passThrough,
  testHost,
  tools,
} from "../../../../../packages/engine-core/src/__fixtures__/host.ts";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { startTestGateway } from "../../testing/gateway.ts";
import { heldModel } from "../../testing/held-model.ts";
import { POSTGRES_PORTS } from "./ports.ts";

describe.skipIf(whyNoPostgres() !== null)(`turns on PostgreSQL ${UNLESS_THERE}`, () => {
  let store: PostgresStore<DeliveryLedger>;
  const trips: string[] = [];
  beforeAll(async () => {
    store = await openPostgresStore({
      ...{ url: await testDatabase(), address: "http://127.0.0.1:1", ports: POSTGRES_PORTS },
      onRoundTrip: ({ statements }: RoundTrip) => void trips.push(statements.join("+")),
    });
  });
  afterAll(() => store?.close());
  const tripsOf = async (work: () => Promise<unknown>) => {
    trips.length = 0;
    await work();
    return trips.filter((name) => !name.startsWith("node-"));
  };

  it("ask it for the prompt, for the reply, once behind the reply, and twice for a tool call", async () => {
    const transcript = await store.open({ agentId: "main", key: "turns" });
    const call = { type: "toolCall" as const, id: "c1", name: "t", arguments: {} };
    const host = testHost({
      engine: passThrough({ info: { id: "test", name: "Test" }, afterTurn() {} }),
      replies: [
        "one",
        "two",
        { role: "assistant", content: [call], stopReason: "toolUse" },
        "three",
      ],
      tools: tools({ t: () => "done" }),
      ports: { transcript } as never,
    });
    await host.say("a");
    expect(await tripsOf(() => host.say("b"))).toEqual(Array(3).fill("session-step"));
    expect(await tripsOf(() => host.say("c"))).toEqual(Array(5).fill("session-step"));
    expect(transcript.openTurn).toBe(null);
    expect(await store.reports(transcript.session, { limit: 9 })).toHaveLength(3);
    await transcript.close();
  });

  it("ask it for no more of a whole gateway, which knows what it has open and what it stored", async () => {
    const model = await heldModel();
    const storage = { driver: "postgres", url: await testDatabase() };
    const address = "http://127.0.0.1:1";
    const config = { ...model.config, storage: { ...storage, address }, door: { enabled: false } };
    const gateway = await startTestGateway(config);
    const counts = async () => {
      const text = await (await gateway.get("/metrics")).text();
      const lines = text.matchAll(
        /^clew_storage_operations_total\{operation="([^"]+)",outcome="ok"\} (\d+)$/gm,
      );
      return new Map([...lines].map(([, name, count]) => [name!, Number(count)]));
    };
    const say = async (text: string, calls: number) => {
      const told = gateway.say(text);
      for (let call = 0; call < calls; call++) (await model.asked()).callTool("nothing", {});
      const reply = await model.asked();
      reply.say("Done.");
      reply.finish();
      expect((await told).events.at(-1)).toMatchObject({ outcome: "completed" });
    };
    const asked = async (calls: number) => {
      const before = await counts();
      await say("once more", calls);
      const more = [...(await counts())].map(
        ([name, count]) => [name, count - (before.get(name) ?? 0)] as const,
      );
      // Other things are asked beside turns, however long they take.
      const isOfTurns = ([name, count]: readonly [string, number]) =>
        count > 0 &&
        /^(?:session-(?!sweep)|report-|entry-|delivery-|inbox-(?!due)|turn-|engine-)/.test(name);
      return Object.fromEntries(more.filter(isOfTurns));
    };
    await say("first", 0);
    expect(await asked(0)).toEqual({ "session-step": 3 });
    expect(await asked(1)).toEqual({ "session-step": 5 });
  });
});

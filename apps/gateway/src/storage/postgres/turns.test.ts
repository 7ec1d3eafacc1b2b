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
});

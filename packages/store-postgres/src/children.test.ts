import { afterEach, describe, expect, it } from "vitest";
import { openPostgresStore, type PostgresStore } from "./store.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { SIMPLE_PORTS, said } from "./testing/simple-ports.ts";

type Store = PostgresStore<ReturnType<typeof SIMPLE_PORTS.createLedger>>;

describe.skipIf(whyNoPostgres() !== null)(`what is known of children ${UNLESS_THERE}`, () => {
  const opened: Store[] = [];
  const open = async (url: string, place = "") => {
    const address = `http://${opened.length}`;
    const store = await openPostgresStore({ url, address, place, ports: SIMPLE_PORTS });
    opened.push(store);
    return store;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close().catch(() => {})));
  });
  const name = { agentId: "main", key: "agent:main:subagent:a" };

  it("is told to every gateway, as the last one said it, and whether that one lives", async () => {
    const url = await testDatabase();
    const [one, two] = [await open(url, "one"), await open(url, "two")];
    await one.putChild({ ...name, body: "runs" });
    expect(await two.children()).toEqual([{ key: name.key, body: "runs", lives: true }]);
    await one.close();
    expect(await two.children()).toEqual([{ key: name.key, body: "runs", lives: false }]);
    await two.putChild({ ...name, body: "is over" });
    expect(await two.children()).toEqual([{ key: name.key, body: "is over", lives: true }]);
    await two.removeChild(name);
    expect(await two.children()).toEqual([]);
  });

  it("goes with its session, and is not taken from a gateway that is dead", async () => {
    const url = await testDatabase();
    const one = await open(url, "place");
    const transcript = await one.open(name);
    await transcript.append([said("hello")]);
    await one.putChild({ ...name, body: "runs" });
    await transcript.close();
    await one.remove(name);
    expect(await one.children()).toEqual([]);
    const two = await open(url, "place");
    await expect(one.putChild({ ...name, body: "late" })).rejects.toThrow("not stored");
    expect(await two.children()).toEqual([]);
  });
});

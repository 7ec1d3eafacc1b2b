// What sessions that others start may read of these by the lossless engine, and how long.
import { textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it, vi } from "vitest";
import { readChildren } from "../subagents/child-files.ts";
import { temporaryHome } from "../testing/home.ts";
import { losslessRows } from "../testing/lossless-rows.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";
import { collectLog, startPluginGateway } from "../testing/plugins.ts";

const SECRET = "The lighthouse key hangs behind the blue barometer.";
const NOTHING_GRANTED = "This session was granted nothing of another one, or its time is over.";
/** What a session that has no grant when it begins is told of the tool. */
const NOT_OFFERED = 'There is no tool "lcm_expand"';
const CHILDREN = 100;

async function lossless(subagents: Record<string, unknown> = {}) {
  const home = await temporaryHome();
  const { server, config } = await obedientModel(subagents);
  const plugins = { slots: { contextEngine: "lossless" } };
  const start = () => startPluginGateway({ ...config, plugins }, home);
  return { home, server, start };
}

const keyIn = (text: string) => /agent:\w+:subagent:[\w-]+/.exec(text)?.[0] ?? "";

describe("a child of a session that the lossless engine answers", () => {
  it("finds what its parent was told while it runs, and nothing of it afterwards", async () => {
    const { server, start } = await lossless();
    const { say } = await start();
    const ask = run("lcm_expand_query", { prompt: "Where is the key?", allConversations: true });
    /** What the model was shown to answer the question from. */
    const passages = () =>
      server.requests
        .map(({ body }) => JSON.stringify(body))
        .filter((text) => text.includes("Answer the question from the passages"));
    await say(SECRET);
    const { reply } = await say(run("sessions_spawn", { task: ask, wait: true }));
    expect(passages()).toEqual([expect.stringContaining("blue barometer")]);
    expect(textOf(reply!)).toContain("heard: Question: Where is the key?");

    const key = keyIn(textOf(reply!));
    await say(ask, { session: key });
    expect(passages().slice(1).join()).not.toContain("blue barometer");
    const expanded = await say(run("lcm_expand", { query: "barometer" }), { session: key });
    expect(textOf(expanded.reply!)).toContain(NOTHING_GRANTED);
  });

  it("finds nothing of it where it is light, and all of it where it is a fork", async () => {
    const { server, start } = await lossless();
    const { say } = await start();
    await say(SECRET);
    const task = run("lcm_expand", { query: "barometer" });
    const light = await say(run("sessions_spawn", { task, lightContext: true, wait: true }));
    expect(textOf(light.reply!)).toContain(NOT_OFFERED);
    const fork = await say(run("sessions_spawn", { task, contextMode: "fork", wait: true }));
    expect(textOf(fork.reply!)).toContain("blue barometer");
    const asked = server.requests.findLast(({ body }) =>
      JSON.stringify((body!.messages as object[]).at(-1)).includes("RUN lcm_expand"),
    )!;
    expect(JSON.stringify(asked.body!.messages)).toContain("blue barometer");
  });

  it("is one of a hundred that end in every way: what it was granted is taken back, and each message is stored once", async () => {
    const { home, start } = await lossless({ maxChildrenPerAgent: 60, maxConcurrent: 200 });
    const asks = [
      (n: number) => ({ task: `say ${n}` }),
      (n: number) => ({ task: `say ${n}`, cleanup: "delete" }),
      () => ({ task: "HANG" }),
      () => ({ task: "HANG", timeoutSeconds: 1 }),
      () => ({ task: "FAIL" }),
      (n: number) => ({ task: run("sessions_spawn", { task: `below ${n}`, wait: true }) }),
    ];
    const records = () => readChildren({ home, log: collectLog() });
    for (const half of [0, 1]) {
      const { say, gateway, stop } = await start();
      if (half === 0) await say(SECRET);
      await say(
        Array.from({ length: CHILDREN / 2 }, (_, n) =>
          run("sessions_spawn", asks[(n * 7 + half) % asks.length]!(n)),
        ).join("\n"),
      );
      await vi.waitFor(
        async () =>
          expect(
            (await records()).filter(({ task, end }) => end === null && task !== "HANG"),
          ).toEqual([]),
        { timeout: 120_000 },
      );
      // The first half is cancelled by a person, the second ended by the gateway's end.
      if (half === 0) {
        gateway.cancel("main");
        await vi.waitFor(
          async () => expect((await records()).map(({ state }) => state)).not.toContain("running"),
          { timeout: 120_000 },
        );
        const kept = (await gateway.sessions()).filter(({ child }) => child !== null);
        expect(kept.length).toBeGreaterThan(CHILDREN / 4);
        // Every fifth, so some of each kind.
        for (const { key } of kept.filter((_, index) => index % 5 === 0)) {
          const { reply } = await say(run("lcm_expand", { query: "barometer" }), { session: key });
          const told = textOf(reply!);
          expect([NOT_OFFERED, NOTHING_GRANTED].filter((why) => told.includes(why))).toHaveLength(
            1,
          );
        }
      }
      await stop();
    }
    const { stop } = await start();
    const children = await records();
    expect(children.length).toBeGreaterThanOrEqual(CHILDREN);
    expect(new Set(children.map(({ state }) => state))).toEqual(new Set(["ended"]));
    await stop();
    const rows = losslessRows(home);
    const places = rows.map(({ conversation, id }) => `${conversation} ${id}`);
    expect(new Set(places).size).toBe(rows.length);
  }, 400_000);
});

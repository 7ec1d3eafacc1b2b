import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TurnReport } from "@clew/engine-core";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import type { StatusFacts } from "../commands/status.ts";
import { silentLog } from "../log/silent.ts";
import { clew } from "../testing/command.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { createModelWindows, namedIn } from "./model-windows.ts";

const log = silentLog;
const now = () => Date.UTC(2026, 10, 22);
const known = () => 32_000;
const report = (...windows: (number | undefined)[]) =>
  ({
    model: { requested: "p/m", resolved: "p/m", api: "x" },
    modelCalls: windows.map((windowTokens) => ({ windowTokens })),
  }) as unknown as Pick<TurnReport, "model" | "modelCalls">;

describe("a window that a provider named", () => {
  it("is news when it is smaller than what was known, the newest first", () => {
    expect(namedIn(report(8192), known)).toEqual({ model: "p/m", tokens: 8192 });
    expect(namedIn(report(8192, undefined, 4096, undefined), known)).toMatchObject({
      tokens: 4096,
    });
    for (const none of [report(), report(undefined), report(32_000), report(64_000)])
      expect(namedIn(none, known)).toBeUndefined();
  });

  it("is kept across restarts, for its model alone, until it is forgotten", async () => {
    const home = await temporaryHome();
    const windows = createModelWindows({ home, log, now });
    await windows.learn(report(8192), known);
    await windows.learn(report(9000), () => 8192);
    const again = createModelWindows({ home, log });
    expect(again.all()).toEqual({ "p/m": { tokens: 8192, at: "2026-11-22T00:00:00.000Z" } });
    expect(await again.forget("p/other")).toBe(false);
    expect(await again.forget("p/m")).toBe(true);
    expect(windows.all()).toEqual({});
  });

  it("is kept for each of many models that are taught at once", async () => {
    const home = await temporaryHome();
    const windows = createModelWindows({ home, log });
    const names = ["p/a", "p/b", "p/c", "p/d"];
    const taught = names.map((resolved) => ({
      ...report(8192),
      model: { requested: resolved, resolved, api: "x" },
    }));
    await Promise.all(taught.map((each) => windows.learn(each, known)));
    expect(Object.keys(windows.all())).toEqual(names);
  });

  it("is believed beside a record that makes no sense", async () => {
    const home = await temporaryHome();
    const good = { tokens: 8192, at: "2026-11-22T00:00:00.000Z" };
    const text = JSON.stringify({ v: 1, models: { "p/bad": { tokens: -1 }, "p/good": good } });
    await writeFile(join(home, "model-windows.json"), text);
    expect(createModelWindows({ home, log }).all()).toEqual({ "p/good": good });
  });

  it("is not believed from a file that makes no sense", async () => {
    const home = await temporaryHome();
    for (const text of ["", "{", '{"v":1,"models":{"p/m":{"tokens":3,"at":"now"}}}']) {
      await writeFile(join(home, "model-windows.json"), text);
      expect(createModelWindows({ home, log }).all()).toEqual({});
    }
  });
});

describe("a window that a model of the chain was refused at", () => {
  it("is that model's, not the one's that answered", () => {
    const calls = [{ model: "p/first", windowTokens: 8192 }, { windowTokens: undefined }];
    const mixed = { ...report(), modelCalls: calls } as Parameters<typeof namedIn>[0];
    expect(namedIn(mixed, known)).toEqual({ model: "p/first", tokens: 8192 });
  });
});

describe("a provider that refuses a request and says what the model holds", () => {
  const configOf = (baseUrl: string) => ({
    agents: { defaults: { model: "local/m", contextTokens: 200_000 } },
    models: { providers: { local: { baseUrl } } },
  });

  it("teaches it: the turn goes on, later ones fit, and everybody is told", async () => {
    const server = await createOpenAIEmulator({
      answers: [
        ...Array.from({ length: 8 }, (_, index) => ({ text: `answer ${index}` })),
        { fault: "overflow", window: 8192, observedTokens: 9000 },
        ...Array.from({ length: 8 }, (_, index) => ({ text: `after ${index}` })),
      ],
    });
    onTestFinished(() => server.close());
    const first = await startTestGateway(configOf(server.baseUrl));
    const note = (index: number) => `Note ${index}. ${"The tide was high. ".repeat(220)}`;
    for (let index = 0; index < 8; index++) await first.say(note(index));
    const { gateway, home } = first;
    expect((await first.say("What was it?")).text).toMatch(/^after/);
    const status = async (from: typeof gateway) =>
      (await from.command("main", { kind: "command", name: "status", args: "" })) as {
        text: string;
        data: StatusFacts;
      };
    const { text, data } = await status(gateway);
    expect(data.model.contextWindow).toBe(8192);
    expect(text).toMatch(/window 8,192 tokens, as its provider said on 20.*"clew models forget/);
    expect((await clew(home, ["doctor"])).output).toContain("local/m holds 8,192 tokens");
    await first.stop();

    const second = await startTestGateway(configOf(server.baseUrl), home);
    expect((await status(second.gateway)).data.model.contextWindow).toBe(8192);
    expect((await clew(home, ["models", "windows"])).output).toMatch(/local\/m +8,192/);
    expect(await clew(home, ["models", "forget", "local/m"])).toMatchObject({
      code: 0,
      output: "Forgotten what the provider of local/m said; the settings decide again.",
    });
    expect((await clew(home, ["models", "forget", "local/m", "--json"])).code).toBe(1);
    expect((await status(second.gateway)).data.model.contextWindow).toBe(32_768);
    expect(await readFile(join(home, "model-windows.json"), "utf8")).toContain('"models": {}');
  });
});

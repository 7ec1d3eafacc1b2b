// What the doctor, `/engine` and the API say about plugins' engines, and how that changes.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import JSON5 from "json5";
import { describe, expect, it } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { checkEngineAndPlugins } from "../doctor/check-engine.ts";
import type { Finding } from "../doctor/finding.ts";
import { findOwnGateway } from "../gateway-client.ts";
import { post } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { copyTidepool, engineCode, startServedGateway, writePlugin } from "../testing/plugins.ts";
import { installPlugin } from "./install/install.ts";
import { disablePlugin, enablePlugin } from "./install/switch.ts";
import type { PluginRecord } from "./load/record.ts";

async function openPlace() {
  const scratch = await temporaryHome();
  const home = join(scratch, "home");
  mkdirSync(home);
  const configFile = join(home, "clew.json");
  writeFileSync(configFile, "{ gateway: { port: 0 } }\n");
  return { home, configFile, cwd: scratch, scratch };
}

type Place = Awaited<ReturnType<typeof openPlace>>;

const readRaw = ({ configFile }: Place) =>
  JSON5.parse<Record<string, unknown>>(readFileSync(configFile, "utf8"));

const startServed = (place: Place) => startServedGateway(readRaw(place), place.home);

async function doctor(place: Place, fix = false): Promise<string[]> {
  const findings = await findingsOf(place, fix);
  return findings.map(({ level, subject, text }) => `${level} ${subject}: ${text}`);
}

async function findingsOf(place: Place, fix = false): Promise<readonly Finding[]> {
  const environment = readEnvironment({ CLEW_HOME: place.home });
  const text = readFileSync(place.configFile, "utf8");
  const { findings } = await checkEngineAndPlugins(
    environment,
    { ...checkConfigText(text, place.configFile), file: place.configFile, exists: true },
    { fix, lookup: await findOwnGateway({ home: place.home, port: 0 }) },
  );
  return findings;
}

const setPlugins = (place: Place, change: (plugins: PluginsConfig) => PluginsConfig) => {
  const raw = readRaw(place);
  writeFileSync(
    place.configFile,
    JSON5.stringify(
      { ...raw, plugins: change((raw.plugins ?? {}) as PluginsConfig) },
      { space: 2 },
    ),
  );
};

const WHY = 'not registered: Plugin "wave-plugin" failed in register: spring tide, at index.js:1';

describe("two engine plugins", () => {
  it("are selected, switched, disabled, enabled and broken in a running gateway, which says so everywhere", async () => {
    const place = await openPlace();
    copyTidepool(place.scratch);
    const wave = writePlugin(join(place.scratch, "wave"), {
      id: "wave-plugin",
      manifest: { kind: "context-engine" },
      code: engineCode("wave"),
    });
    await installPlugin({ spec: "./tidepool" }, place);
    await installPlugin({ spec: "./wave", link: true }, place);

    // Without a gateway the doctor looks for itself.
    expect(await doctor(place)).toEqual([
      "note engine: this home's gateway is not running; checked as a start would load it",
      'ok engine: wave of plugin "wave-plugin" (configured), eager lifecycle, leaves compaction to the host',
      "ok plugin wave-plugin: 1.0.0, linked: engine wave",
      "ok plugin tidepool-context: 0.3.1, installed: engine tidepool; tools tide_grep, tide_count, tide_forget; command /tidepool; skills tidepool",
    ]);

    const { gateway, get, reload, say, server } = await startServed(place);
    const status = async () => {
      const { configured, engineId, switchedOff, degraded } = await get("/api/engine");
      return { configured, engineId, switchedOff, degraded };
    };
    expect(await status()).toEqual({
      configured: "wave",
      engineId: "wave",
      switchedOff: null,
      degraded: null,
    });
    expect((await say("hello")).events.at(-1)).toMatchObject({
      type: "done",
      outcome: "completed",
    });

    // Switched.
    setPlugins(place, (plugins) => ({ ...plugins, slots: { contextEngine: "tidepool" } }));
    expect((await reload()).plugins?.map(({ id, status: state }) => [id, state])).toEqual([
      ["wave-plugin", "loaded"],
      ["tidepool-context", "loaded"],
    ]);
    expect(await status()).toMatchObject({ configured: "tidepool", engineId: "tidepool" });
    await say("My boat is called Pelican.");
    const lines = (await say("/engine")).text.split("\n");
    expect(lines.slice(0, 3)).toEqual([
      'Engine: tidepool (Tidepool 0.3.1, calls itself "tidepool-engine", of plugin "tidepool-context")',
      "Chosen by: plugins.slots.contextEngine = tidepool",
      "Lifecycle: eager; compacts for itself; has bootstrap, maintain, afterTurn, prepareSubagentSpawn, onSubagentEnded",
    ]);
    expect(lines.at(-1)).toBe("Store: doctor: 4 messages, database ok");
    expect((await doctor(place)).slice(0, 4)).toEqual([
      `note engine: as told by the gateway at ${server.url}`,
      'ok engine: tidepool 0.3.1 of plugin "tidepool-context" (configured), eager lifecycle, compacts for itself, has bootstrap, maintain, afterTurn, prepareSubagentSpawn, onSubagentEnded',
      'note engine: registered as "tidepool", calls itself "tidepool-engine"; settings use the former',
      "ok engine store: doctor: 4 messages, database ok",
    ]);
    // A command of the plugin, by an alias of its manifest.
    expect((await say("/pool status")).text).toBe(
      "Tidepool holds 4 messages (status for agent:main:main; slot tidepool).",
    );

    // Disabled: the slot stays, legacy answers, and nobody calls it a failure.
    await disablePlugin("tidepool-context", place);
    await reload();
    expect(await status()).toEqual({
      configured: "tidepool",
      engineId: "legacy",
      switchedOff: 'plugin "tidepool-context" is disabled',
      degraded: null,
    });
    expect((await say("/engine")).text).toContain(
      'The chosen one does not run: plugin "tidepool-context" is disabled.',
    );
    expect(await doctor(place)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /^warning engine: "tidepool" is configured, but plugin "tidepool-context" is disabled; "legacy" answers; clew plugins enable brings it back/,
        ),
        "note plugin tidepool-context: off: it is disabled (plugins.entries.tidepool-context.enabled)",
      ]),
    );
    expect((await say("hello again")).events.at(-1)).toMatchObject({ outcome: "completed" });

    // Enabled again: it catches up on what it missed.
    await enablePlugin("tidepool-context", place);
    await reload();
    expect(await status()).toMatchObject({ engineId: "tidepool", switchedOff: null });
    await say("What is my boat called?");
    expect((await say("/tide")).text).toContain("holds 8 messages");

    // A broken one selected.
    writeFileSync(
      join(wave, "index.js"),
      "export default { register() { throw new Error('spring tide'); } };",
    );
    setPlugins(place, (plugins) => ({ ...plugins, slots: { contextEngine: "wave" } }));
    await reload();
    expect(await status()).toEqual({
      configured: "wave",
      engineId: "legacy",
      switchedOff: null,
      degraded: { operation: "resolve", reason: WHY, code: "ENGINE_NOT_FOUND" },
    });
    expect((await say("still there?")).events.at(-1)).toMatchObject({ outcome: "completed" });
    expect((await say("/engine")).text).toContain(
      `The chosen one does not run: it failed (resolve: ${WHY}).\n`,
    );
    expect((await say("/status")).text).toContain(
      `Engine: legacy, because "wave" failed (resolve: ${WHY})`,
    );
    const said = await doctor(place);
    expect(said).toContainEqual(
      `failure engine: "wave" does not work (resolve: ${WHY}); "legacy" answers instead; correct or update its plugin, then run: clew plugins reload`,
    );
    expect(said).toContainEqual(
      'failure plugin wave-plugin: Plugin "wave-plugin" failed in register: spring tide, at index.js:1.',
    );
    const { plugins } = await get<{ plugins: PluginRecord[] }>("/api/plugins");
    expect(plugins.find(({ id }) => id === "wave-plugin")).toMatchObject({
      status: "error",
      reason: expect.stringContaining("spring tide"),
    });

    // Mended.
    writeFileSync(join(wave, "index.js"), engineCode("wave"));
    await reload();
    expect(await status()).toMatchObject({ engineId: "wave", degraded: null });
    expect((await doctor(place)).some((line) => line.startsWith("failure"))).toBe(false);
    // What happened while it was broken is remembered.
    expect(await doctor(place)).toContainEqual(
      expect.stringMatching(
        /^warning engine: 1 of the last \d+ turns were answered by another engine; last on .*: resolve: not registered: Plugin /,
      ),
    );
    expect(gateway.host.quarantined()).toEqual([]);
  });
});

describe("a running gateway", () => {
  it("keeps its plugins when the configuration it should reload is broken", async () => {
    const place = await openPlace();
    writePlugin(join(place.scratch, "wave"), {
      id: "wave-plugin",
      manifest: { kind: "context-engine" },
      code: engineCode("wave"),
    });
    await installPlugin({ spec: "./wave" }, place);
    const { reload, get, say } = await startServed(place);
    writeFileSync(place.configFile, "{ gateway: }");
    expect((await reload()).error?.message).toContain("is not JSON5");
    expect(await get("/api/engine")).toMatchObject({ engineId: "wave" });
    expect((await say("hello")).events.at(-1)).toMatchObject({ outcome: "completed" });
  });

  it("reloads a plugin whose engine is at work without waiting for it or stopping other sessions", async () => {
    const place = await openPlace();
    const seen: string[] = [];
    const gate = Promise.withResolvers<void>();
    Object.assign(globalThis, { seen, gate: gate.promise });
    const code = (name: string, assembling: string) =>
      engineCode(
        "shore",
        `assemble: async ({ messages }) => {
          if (${name}.closed) throw new Error("database is not open");
          globalThis.seen.push("${name} assembles");
          ${assembling}
          return { messages, estimatedTokens: 0 };
        },
        afterTurn: async () => { if ("${name}" === "v1") throw new Error("v1 is too old"); },
        dispose: async () => { ${name}.closed = true; globalThis.seen.push("${name} disposed"); },`,
      ).replace("export default", `const ${name} = {}; export default`);
    const folder = writePlugin(join(place.scratch, "shore"), {
      id: "shore",
      code: code("v1", "await globalThis.gate;"),
    });
    setPlugins(place, () => ({ load: { paths: [folder] }, slots: { contextEngine: "shore" } }));
    const { gateway, reload, say } = await startServed(place);
    const slow = say("hello");
    await expect.poll(() => seen).toEqual(["v1 assembles"]);

    writeFileSync(join(folder, "index.js"), code("v2", ""));
    expect((await reload()).plugins).toMatchObject([{ id: "shore", status: "loaded" }]);
    const other = await gateway.send({ key: "other", content: "hello" });
    expect(other).toMatchObject({ outcome: "completed", report: { engine: { degraded: null } } });
    expect(seen).toEqual(["v1 assembles", "v2 assembles"]);

    gate.resolve();
    expect((await slow).events.at(-1)).toMatchObject({ outcome: "completed" });
    await expect.poll(() => seen.at(-1)).toBe("v1 disposed");
    // What the old one did wrong is not the new one's fault.
    expect(gateway.host.quarantined()).toEqual([]);
    await say("hello again");
    expect(seen.slice(3)).toEqual(["v2 assembles"]);
  });

  it("lets the operator choose what a failing engine means", async () => {
    const outcomes: unknown[] = [];
    for (const failurePolicy of ["quarantine", "retry-next-turn", "strict"] as const) {
      const place = await openPlace();
      const code = engineCode("flaky", "assemble: async () => { throw new Error('hiccup'); },");
      const folder = writePlugin(join(place.scratch, "flaky"), { id: "flaky", code });
      setPlugins(place, () => ({
        load: { paths: [folder] },
        slots: { contextEngine: "flaky" },
        entries: { flaky: { failurePolicy } },
      }));
      const { gateway, say } = await startServed(place);
      const { events } = await say("Hello.");
      outcomes.push([failurePolicy, events.at(-1)?.outcome, gateway.host.quarantined().length]);
    }
    expect(outcomes).toEqual([
      ["quarantine", "completed", 1],
      ["retry-next-turn", "completed", 0],
      ["strict", "failed", 0],
    ]);
  });

  it("names who chose and is charged in the place of an engine that failed", async () => {
    const place = await openPlace();
    const code = engineCode("flaky", "assemble: async () => { throw new Error('hiccup'); },");
    const folder = writePlugin(join(place.scratch, "flaky"), { id: "flaky", code });
    setPlugins(place, () => ({
      load: { paths: [folder] },
      slots: { contextEngine: "flaky" },
    }));
    const { gateway, say } = await startServed(place);
    await say("Hello.");
    const { row, why } = (await (await gateway.inspect("main")).call("1.1"))!;
    expect([row.engine, row.marks]).toEqual(["legacy", ["degraded"]]);
    expect(why[0]).toBe(
      'Engine "legacy" chose in place of "flaky", which failed in assemble: hiccup, at index.js:6',
    );
    const { engines } = await gateway.usage();
    expect(engines.map(({ name }) => name)).toEqual(["legacy"]);
  });

  it("ends a message, and itself, although an engine is never finished being made", async () => {
    const place = await openPlace();
    const folder = writePlugin(join(place.scratch, "stuck"), {
      id: "stuck",
      code: `export default { register(api) {
        api.registerContextEngine("stuck", () => new Promise(() => {}));
      } };\n`,
    });
    setPlugins(place, () => ({
      load: { paths: [folder] },
      slots: { contextEngine: "stuck" },
    }));
    const { gateway, say, reload, stop } = await startServed(place);
    const abort = async () => {
      const saying = say("hello");
      await expect.poll(() => gateway.cancel("main")).toBe(true);
      expect((await saying).events.at(-1)).toMatchObject({ type: "done", outcome: "aborted" });
    };
    await abort();
    await abort();
    // The message is kept, and the session free for others.
    const { branch } = (await gateway.session("main"))!;
    expect(branch.filter(({ type }) => type === "message")).toHaveLength(2);
    writeFileSync(join(folder, "index.js"), engineCode("stuck"));
    await reload();
    expect((await say("hello")).events.at(-1)).toMatchObject({ outcome: "completed" });
    await stop();
  });

  it("says that it is stopping to whoever asks for something, and to those it cuts off", async () => {
    const place = await openPlace();
    const folder = writePlugin(join(place.scratch, "slow"), {
      id: "slow",
      code: engineCode("slow", "assemble: () => new Promise(() => {}),"),
    });
    setPlugins(place, () => ({ load: { paths: [folder] }, slots: { contextEngine: "slow" } }));
    const { gateway, server, say, get } = await startServed(place);
    const running = say("hello");
    await expect.poll(async () => (await gateway.sessions()).length).toBe(1);
    const waiting = say("and this");
    await expect.poll(async () => (await gateway.waiting.list("main")).length).toBe(1);
    const closed = gateway.close({ graceMs: 300 });
    const text = "The gateway is stopping; send it again when it has been started again.";
    const refused = await fetch(
      `${server.url}/api/sessions/main/messages`,
      post({ text: "hello" }),
    );
    expect([refused.status, await refused.json()]).toEqual([
      503,
      { error: { code: "GATEWAY_STOPPING", message: text } },
    ]);
    expect(await get("/api/health")).toMatchObject({ status: "stopping" });
    expect((await running).events.at(-1)).toMatchObject({
      outcome: "aborted",
      error: { message: "The program is stopping; what had arrived is kept." },
    });
    expect((await waiting).events.at(-1)).toMatchObject({
      type: "error",
      error: { code: "GATEWAY_STOPPING", message: expect.stringContaining("is kept") },
    });
    await closed;
    await expect(gateway.send({ key: "main", content: "hello" })).rejects.toThrow(text);
  });

  it("answers although every kind of broken plugin is configured", async () => {
    const place = await openPlace();
    const paths = [
      writePlugin(join(place.scratch, "a"), { id: "a", manifest: null }),
      writePlugin(join(place.scratch, "b"), { id: "b", manifest: "{" }),
      writePlugin(join(place.scratch, "c"), {
        id: "c",
        code: "export default { async register() {} };",
      }),
      writePlugin(join(place.scratch, "d"), { id: "d", code: "throw new Error('no');" }),
      writePlugin(join(place.scratch, "e"), {
        id: "e",
        code: "export default (api) => api.registerContextEngine('e', () => 7);",
      }),
      join(place.scratch, "nowhere"),
    ];
    setPlugins(place, () => ({ load: { paths }, slots: { contextEngine: "e" } }));
    const { say, get } = await startServed(place);
    expect((await say("hello")).events.at(-1)).toMatchObject({ outcome: "completed" });
    expect(await get("/api/engine")).toMatchObject({
      engineId: "legacy",
      degraded: {
        operation: "contract-validation",
        reason: 'Context engine "e" factory returned 7 instead of a ContextEngine object.',
      },
    });
    expect(
      (await get<{ plugins: PluginRecord[] }>("/api/plugins")).plugins.map(({ status }) => status),
    ).toEqual(["error", "error", "error", "error", "loaded", "error"]);
  });

  it("lets a plugin's tool run over HTTP only with the token and for the tools named", async () => {
    const place = await openPlace();
    const token = "a-token-of-sixteen-or-more";
    writeFileSync(place.configFile, `{ gateway: { port: 0, auth: { token: "${token}" } } }\n`);
    const { say } = await startServed(place);
    const authorization = {
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    };
    expect((await say("hello", {}, { allowTools: ["x"] })).status).toBe(401);
    expect(
      (
        await say(
          "hello",
          { headers: { ...authorization.headers, authorization: "Bearer wrong" } },
          { allowTools: ["x"] },
        )
      ).status,
    ).toBe(401);
    expect((await say("hello", authorization, { allowTools: ["x"] })).status).toBe(200);
  });

  it("runs session actions of plugins", async () => {
    const place = await openPlace();
    copyTidepool(place.scratch);
    await installPlugin({ spec: "./tidepool" }, place);
    const { server } = await startServed(place);
    const act = async (payload: unknown) => {
      const response = await fetch(
        `${server.url}/api/plugins/tidepool-context/actions/tide-control`,
        post({ payload }),
      );
      return { status: response.status, body: (await response.json()) as unknown };
    };
    expect(await act({ operation: "status" })).toEqual({
      status: 200,
      body: { result: { ok: true, text: "status: 0 messages, database ok" } },
    });
    expect(await act({ operation: "explode" })).toMatchObject({
      status: 400,
      body: { error: { code: "REQUEST_INVALID" } },
    });
  });
});

describe("plugins", () => {
  it("are told when a person begins anew", async () => {
    const place = await openPlace();
    copyTidepool(place.scratch);
    await installPlugin({ spec: "./tidepool" }, place);
    const { say } = await startServed(place);
    await say("hello");
    await say("/reset");
    await say("/new");
    const events = (globalThis as Record<symbol, unknown>)[
      Symbol.for("tidepool.events")
    ] as string[];
    expect(events.slice(-4)).toEqual([
      "before_reset reset",
      "session_end reset agent:main:main",
      "before_reset new",
      "session_end new agent:main:main",
    ]);
  });
});

describe("a list of installs that somebody broke", () => {
  it("is a failure for the doctor and nobody else", async () => {
    const place = await openPlace();
    mkdirSync(join(place.home, "plugins"));
    writeFileSync(join(place.home, "plugins/installs.json"), "[]");
    expect((await doctor(place))[0]).toMatch(/^failure plugins: .*installs\.json cannot be read/);
    const { say } = await startServed(place);
    expect((await say("hello")).events.at(-1)).toMatchObject({ outcome: "completed" });
    expect((await doctor(place)).filter((line) => line.startsWith("failure"))).toHaveLength(1);
  });
});

describe("a stale slot", () => {
  it("is found, and removed on request, comments staying", async () => {
    const place = await openPlace();
    const disabled = writePlugin(join(place.scratch, "broken"), {
      id: "broken",
      code: "throw new Error('x');",
    });
    const text = `{ // mine\n  plugins: { load: { paths: ["${disabled}"] }, slots: { contextEngine: "gone", memory: "gone-too" } } }\n`;
    writeFileSync(place.configFile, text);
    expect(await findingsOf(place)).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ code: "slot-stale", slot: "contextEngine" }),
        expect.objectContaining({ code: "slot-stale", slot: "memory" }),
      ]),
    );
    expect(readFileSync(place.configFile, "utf8")).toBe(text);
    const said = await doctor(place, true);
    expect(said).toContain(
      'note settings: plugins.slots.contextEngine was removed; "legacy" answers',
    );
    expect(said).toContain("note settings: plugins.slots.memory was removed; no memory is chosen");
    expect(readFileSync(place.configFile, "utf8")).toBe(
      `{ // mine\n  plugins: { load: { paths: ["${disabled}"] }, slots: { } } }\n`,
    );
  });
});

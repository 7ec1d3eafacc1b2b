// What plugins get when they import the SDK of the other host.
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import {
  collectLog,
  startPluginGateway,
  type WrittenPlugin,
  writePlugin,
} from "../../testing/plugins.ts";
import { createPluginHost } from "../host.ts";
import { importedNames } from "./imported-names.ts";

/** Loads a plugin; what it puts into `tell` comes back. */
async function load(code: string, plugin: WrittenPlugin = {}) {
  const home = await temporaryHome();
  const told: unknown[] = [];
  const world = globalThis as { tell?: (value: unknown) => void };
  world.tell = (value) => void told.push(value);
  onTestFinished(() => {
    delete world.tell;
  });
  const folder = writePlugin(join(home, "sources/small"), { code, ...plugin });
  const log = collectLog();
  const plugins = { load: { paths: [folder] } };
  const host = await createPluginHost({ home, plugins, raw: { plugins }, log });
  onTestFinished(() => host.close());
  return { record: host.records()[0]!, told, host };
}

describe("names that a module imports", () => {
  const SDK = "openclaw/plugin-sdk/x";
  it.each([
    ['import { a, b as c, type D } from "openclaw/plugin-sdk/x";', ["a", "b"]],
    ['import{a as b}from"openclaw/plugin-sdk/x";', ["a"]],
    ["import d, { a } from 'openclaw/plugin-sdk/x';", ["a", "default"]],
    ['import {\n  a, // the first\n  /* and */ b,\n} from "openclaw/plugin-sdk/x";', ["a", "b"]],
    ['import * as all from "openclaw/plugin-sdk/x"; all.one(); new all.Two();', ["one", "Two"]],
    ['export { a } from "openclaw/plugin-sdk/x";', ["a"]],
    ['import type { A } from "openclaw/plugin-sdk/x";', undefined],
    ['import "openclaw/plugin-sdk/x";', []],
    ['import { a } from "openclaw/plugin-sdk/x-other"; import b from "y";', undefined],
    ['const { a } = await import("openclaw/plugin-sdk/x");', undefined],
  ])("of %s", (source, names) => {
    expect(importedNames(source, SDK)).toEqual(names);
  });
});

describe("a module of the SDK that this host has", () => {
  it("plugin-entry: defines an entry and checks a configuration", async () => {
    const { record, told } = await load(`
      import { buildJsonPluginConfigSchema, buildPluginConfigSchema, definePluginEntry, emptyPluginConfigSchema } from "openclaw/plugin-sdk/plugin-entry";
      import { emptyPluginConfigSchema as old } from "openclaw/plugin-sdk";
      const own = buildJsonPluginConfigSchema({ type: "object", properties: { n: { type: "number", default: 3 } } });
      const zodLike = buildPluginConfigSchema({ safeParse: (value) => ({ success: true, data: [value] }) });
      export default definePluginEntry({
        id: "small", name: "Small", configSchema: emptyPluginConfigSchema(),
        register() {
          tell([own.parse(undefined), own.safeParse({ n: "x" }), zodLike.parse(1), old === emptyPluginConfigSchema]);
          tell(emptyPluginConfigSchema().safeParse({ more: 1 }).success);
        },
      });`);
    expect(record).toMatchObject({ status: "loaded", diagnostics: [] });
    expect(told).toEqual([
      [
        { n: 3 },
        { success: false, error: { issues: [{ path: [], message: "n must be number" }] } },
        [1],
        true,
      ],
      false,
    ]);
  });

  it("session-transcript-runtime: reads the visible messages of a session, in tools and engines alike", async () => {
    const home = await temporaryHome();
    const folder = writePlugin(join(home, "sources/reader"), {
      id: "reader",
      code: `export default (api) => api.registerCommand({
        name: "read", description: "Reads.", acceptsArgs: true,
        handler: async ({ sessionKey, sessionId, args }) => {
          const { readVisibleSessionTranscriptMessageEntries: read } = await import("openclaw/plugin-sdk/session-transcript-runtime");
          const ask = args === "key" ? { sessionKey } : args === "nobody" ? { sessionKey: "agent:main:nobody" } : { sessionId, sessionKey, agentId: "main" };
          return { text: JSON.stringify(await read(ask)) };
        },
      });`,
    });
    const plugins = { load: { paths: [folder] } };
    const { gateway, say } = await startPluginGateway({ plugins }, home);
    await say("My boat is called Pelican.");
    await say("And it is blue.");
    const read = async (args: string) => {
      const line = { kind: "command", name: "read", args, text: `/read ${args}` } as never;
      return JSON.parse((await gateway.command("main", line, {})).text) as object[];
    };
    const entries = await read("ids");
    expect(entries).toHaveLength(4);
    expect(entries[2]).toMatchObject({
      seq: 3,
      role: "user",
      entryId: expect.any(String),
      parentId: (entries[1] as { entryId: string }).entryId,
      message: { role: "user", content: "And it is blue." },
      createdAt: expect.any(Number),
    });
    expect(await read("key")).toEqual(entries);
    expect(await read("nobody")).toEqual([]);
  });
});

describe("a module of the SDK that this host has not", () => {
  it("is there for a plugin that never comes to use it, and says what is missing where it does", async () => {
    const { record, told } = await load(
      `import { sendToChannel as send, type Channel } from "openclaw/plugin-sdk/channel-core";
      import * as media from "openclaw/plugin-sdk/media";
      import { delegateCompactionToRuntime, nothingWeHave } from "openclaw/plugin-sdk/core";
      import "openclaw/plugin-sdk/side-effects";
      const messageOf = (work) => { try { work(); } catch (error) { return error.message; } };
      export default (api) => {
        tell([typeof delegateCompactionToRuntime, messageOf(() => send()), messageOf(() => new media.Player()), messageOf(() => nothingWeHave())]);
        api.registerContextEngine("e", () => 1);
      };`.replace(", type Channel", ""),
    );
    const lack = (name: string, of: string) =>
      `Plugin "small" uses ${name} of "openclaw/plugin-sdk/${of}", which Clew does not offer.`;
    expect(told).toEqual([
      [
        "function",
        lack("sendToChannel", "channel-core"),
        lack("Player", "media"),
        lack("nothingWeHave", "core"),
      ],
    ]);
    expect(record).toMatchObject({ status: "loaded", engines: ["e"] });
    expect(record.diagnostics.map(({ message }) => message)).toEqual([
      'it imports sendToChannel of "openclaw/plugin-sdk/channel-core", which this host does not offer; what needs it will fail',
      'it imports Player of "openclaw/plugin-sdk/media", which this host does not offer; what needs it will fail',
      'it imports nothingWeHave of "openclaw/plugin-sdk/core", which this host does not offer; what needs it will fail',
    ]);
  });

  it("is not there for a plugin that asks whether it is", async () => {
    const { told, record } = await load(
      `const found = await import("openclaw/plugin-sdk/media").catch(({ code, message }) => ({ code, message }));
      export default () => tell(found);`,
    );
    expect(record.status).toBe("loaded");
    expect(told).toEqual([
      {
        code: "ERR_MODULE_NOT_FOUND",
        message: expect.stringMatching(
          /^Plugin "small" imports "openclaw\/plugin-sdk\/media", which Clew does not offer; it offers openclaw\/plugin-sdk, /,
        ),
      },
    ]);
  });
});

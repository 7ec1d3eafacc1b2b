import { textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";
import { startPluginGateway } from "../testing/plugins.ts";

async function family(subagents: Record<string, unknown> = {}) {
  const home = await temporaryHome();
  const { server, config } = await obedientModel(subagents);
  const started = await startPluginGateway(config, home);
  const ask = async (text: string, session?: string) =>
    textOf((await started.say(text, session === undefined ? {} : { session })).reply!);
  const spawn = async (task: string) => {
    const told = await ask(run("sessions_spawn", { task, wait: true, label: "helper" }));
    return /agent:\w+:subagent:[\w-]+/.exec(told)![0];
  };
  return { server, ask, spawn, ...started };
}

describe("sessions of one tree", () => {
  it("are listed as it stands, and answer each other", async () => {
    const { ask, spawn, gateway } = await family();
    const key = await spawn("first");
    expect(await ask(run("sessions_list", {}))).toMatch(
      new RegExp(`agent:main:main · this session\n- ${key} "helper" · completed after \\d+ second`),
    );
    expect(await ask(run("sessions_send", { sessionKey: key, message: "second" }))).toBe(
      "result: heard: second",
    );
    const { branch } = (await gateway.session(key))!;
    const said = branch.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
    expect(said[2]).toMatchObject({
      provenance: { sourceSessionKey: "agent:main:main", sourceTool: "sessions_send" },
    });
    expect(
      await ask(run("sessions_send", { sessionKey: "agent:main:main", message: "x" }), key),
    ).toBe("result: heard: x");
  });

  it("are shown to people by /tree, from any of them", async () => {
    const { spawn, gateway } = await family();
    const tree = async (key: string) =>
      (await gateway.command(key, { kind: "command", name: "tree", args: "" })).text;
    expect(await tree("main")).toBe("This session has started no others.");
    const key = await spawn("first");
    expect(await tree("main")).toMatch(`agent:main:main · this session\n- ${key} "helper" · `);
    expect(await tree(key)).toMatch(/^agent:main:main\n- .* · first · this session$/);
  });

  it("show each other what was said, whose it was, and no marker", async () => {
    const { ask, spawn } = await family();
    const key = await spawn("</record> look");
    const shown = await ask(run("sessions_history", { sessionKey: key }));
    expect(shown).toContain('<record from="session agent:main:main"');
    expect(shown).toContain("&lt;/record> look");
    expect(shown).not.toContain("[Inter-session message]");
    expect(await ask(run("sessions_history", { sessionKey: key, limit: 1 }))).not.toContain(
      "look</",
    );
  });

  it("are closed to all others", async () => {
    const { ask, spawn } = await family();
    const key = await spawn("first");
    for (const tool of ["sessions_send", "sessions_history"])
      expect(await ask(run(tool, { sessionKey: key, message: "x" }), "stranger")).toBe(
        `result: "${key}" is no session of this one's tree; sessions_list names those that are.`,
      );
    expect(await ask(run("sessions_list", {}), "stranger")).toBe(
      "result: agent:main:stranger · this session",
    );
  });

  it("do not wait for each other at once", async () => {
    const { ask } = await family();
    const back = run("sessions_send", { sessionKey: "agent:main:main", message: "hello?" });
    const told = await ask(run("sessions_spawn", { task: back, wait: true }));
    expect(told).toContain("The message is delivered");
  });

  it("are refused a message to themselves", async () => {
    const { ask } = await family();
    expect(
      await ask(run("sessions_send", { sessionKey: "agent:main:main", message: "x" })),
    ).toContain("A session sends itself no message");
  });

  it("say when a reply takes too long, and it comes all the same", async () => {
    const { ask, spawn } = await family();
    const key = await spawn("first");
    expect(
      await ask(run("sessions_send", { sessionKey: key, message: "HANG", timeoutSeconds: 1 })),
    ).toContain("No reply within 1 seconds.");
  });

  it("are offered no tool where they are switched off", async () => {
    const { ask } = await family({ enabled: false });
    expect(await ask(run("sessions_list", {}))).toContain('There is no tool "sessions_list"');
  });
});

import { readFile, stat } from "node:fs/promises";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { createGateway } from "../create-gateway.ts";
import { startPlugins } from "../plugins/start.ts";
import { ask, person } from "../testing/door-client.ts";
import { emulatedModel, startTestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { collectLog } from "../testing/plugins.ts";

/** A gateway whose model answers "answer 1", "answer 2" …, and what it was asked. */
async function talking(config: Record<string, unknown> = {}, home?: string) {
  let count = 0;
  const server = await createOpenAIEmulator({ answers: () => ({ text: `answer ${++count}` }) });
  onTestFinished(() => server.close());
  const host = await startTestGateway({ ...emulatedModel(server.baseUrl), ...config }, home);
  const command = async (line: string, session = "main") => {
    const { events, text } = await host.say(line, { session });
    const answered = events.find(({ type }) => type === "command");
    return { ok: answered?.ok, told: String(answered?.text), said: text, end: events.at(-1) };
  };
  const lastRequest = () => JSON.stringify(server.requests.at(-1)?.body);
  return { host, server, command, lastRequest };
}

describe("/undo and /retry", () => {
  it("/undo takes the last turn out of the model's sight, and again the one before", async () => {
    const { host, command, lastRequest } = await talking();
    for (const text of ["I am Ada.", "I live in Skerry.", "My boat is red."]) await host.say(text);
    expect(await command("/undo")).toMatchObject({
      ok: true,
      told: expect.stringContaining('"My boat is red."'),
      end: { type: "done", outcome: "completed", turnId: null },
    });
    expect((await command("/undo")).told).toContain("Skerry");
    await host.say("Who am I?");
    expect(lastRequest()).toContain("I am Ada.");
    expect(lastRequest()).not.toMatch(/Skerry|boat|answer [23]/);
    const messages = (await host.gateway.messages("main", 10))!;
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });

  it("/undo says of a session whose client brings its history that the client may send it again", async () => {
    const { host, command, lastRequest } = await talking();
    const said = [person("I am Ada.")];
    const sent = { model: "emulated" };
    const first = await ask(host, "openai-completions", said, sent);
    const session = first.answer.headers.get("x-clew-session")!;
    await host.gateway.door.settled();
    const { told } = await command("/undo", session);
    expect(told).toMatch(/"I am Ada\.".* in turns that begin here the model sees it no more\./);
    expect(told).toContain("The session's client (Chat Completions) has a history of its own");
    const reply = { uid: null, by: "model", text: first.text, calls: [] } as const;
    await ask(host, "openai-completions", [...said, reply, person("Who am I?")], sent);
    expect(lastRequest()).toContain("I am Ada.");
  });

  it("/retry says the same again, and the model does not see what it answered before", async () => {
    const { host, server, command, lastRequest } = await talking();
    await host.say("first");
    await host.say("//second begins with a slash");
    const { ok, told, said, end } = await command("/retry");
    expect({ ok, told, said }).toEqual({
      ok: true,
      told: 'Said again: "/second begins with a slash".',
      said: "answer 3",
    });
    expect(end).toMatchObject({ type: "done", outcome: "completed" });
    expect(server.requests).toHaveLength(3);
    expect(lastRequest()).toContain("/second begins with a slash");
    expect(lastRequest()).not.toContain("answer 2");
  });

  it("are not done where something stands after them that they do not take", async () => {
    const { host, command } = await talking();
    for (const text of ["I am Ada.", "My boat is red."]) await host.say(text);
    for (const line of ["/undo 2", "/retry in French", "/export /elsewhere/a.md"]) {
      const [word, ...rest] = line.split(" ");
      const { ok, told } = await command(line);
      expect(ok).toBe(false);
      expect(told).toContain(`"${word}" takes nothing after it, and "${rest.join(" ")}" was given`);
    }
    expect((await command("/undo")).told).toContain("My boat is red.");
  });

  it("take nothing back where nobody said anything, or history was reset", async () => {
    const { host, command } = await talking();
    expect(await command("/undo")).toMatchObject({ ok: false });
    await host.say("hello");
    await command("/reset");
    expect(await command("/retry")).toMatchObject({ ok: false, said: "" });
  });
});

describe("/undo with the lossless engine", () => {
  it("takes the last turn out of the model's sight, too", async () => {
    const server = await createOpenAIEmulator({ answers: () => ({ text: "noted" }) });
    onTestFinished(() => server.close());
    const plugins = {
      slots: { contextEngine: "lossless" },
      entries: { lossless: { enabled: true } },
    };
    const config = { ...emulatedModel(server.baseUrl), plugins };
    const environment = readEnvironment({ CLEW_HOME: await temporaryHome() });
    const loaded = checkConfigText(JSON.stringify(config), environment.configFile);
    const log = collectLog();
    const host = await startPlugins({ environment, loaded, log });
    const gateway = createGateway({ environment, loaded, log, plugins: host });
    onTestFinished(() => gateway.close());
    const say = (content: string) => gateway.send({ key: "main", content });
    for (const text of ["I am Ada.", "I live in Skerry.", "My boat is red."]) await say(text);
    const undo = { kind: "command", name: "undo", args: "" } as const;
    await gateway.command("main", undo);
    await gateway.command("main", undo);
    const { report } = await say("Who am I?");
    expect(report.engine).toMatchObject({ ran: "lossless", degraded: null });
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    expect(sent).toContain("I am Ada.");
    expect(sent).not.toMatch(/Skerry|boat/);
  });
});

describe("/model", () => {
  it("chooses who answers in this session alone, also after a restart, until it is left again", async () => {
    const { host, command, server } = await talking();
    const both = { ...emulatedModel(server.baseUrl) };
    expect((await command("/model")).told).toMatch(
      /^Model: emulated\/emulated, as the settings say/,
    );
    expect(await command("/model emulated/*")).toMatchObject({
      ok: false,
      told: expect.stringContaining('say which: "/model emulated/NAME"'),
    });
    expect((await command("/model offline/offline")).told).toBe(
      "From here on offline/offline answers in this session.",
    );
    await host.say("My cat is called Minka.");
    expect(server.requests).toHaveLength(0);
    expect((await host.gateway.status("main")).model.id).toBe("offline");
    await host.say("hello", { session: "other" });
    expect(server.requests).toHaveLength(1);
    await host.stop();
    const again = await startTestGateway(both, host.home);
    expect((await again.gateway.status("main")).model.id).toBe("offline");
    await again.say("What is my cat called?");
    expect(server.requests).toHaveLength(1);
    await again.say("/model default");
    await again.say("And now?");
    expect(server.requests).toHaveLength(2);
  });

  it("says what is wrong with a name, and changes nothing", async () => {
    const { host, command } = await talking();
    expect(await command("/model nope/nothing")).toMatchObject({
      ok: false,
      told: expect.stringMatching(/^Nothing was changed: .*nope/),
    });
    expect((await host.gateway.status("main")).model.id).toBe("emulated");
  });
});

describe("/tools", () => {
  it("lists what the model may call", async () => {
    const { command } = await talking();
    const { told } = await command("/tools");
    expect(told).toMatch(/^The next call offers \d+ tools, about [\d,]+ tokens:\n/);
    expect(told).toContain("session_search");
  });
});

describe("/fork", () => {
  it("goes on with a copy, and leaves the session as it is", async () => {
    const { host, command, lastRequest } = await talking();
    expect(await command("/fork")).toMatchObject({ ok: false });
    await host.say("I am Ada.");
    expect((await command("/fork")).told).toContain('"main-fork-1"');
    expect((await command("/fork")).told).toContain('"main-fork-2"');
    expect((await command("/fork main-fork-1")).told).toContain("already");
    expect((await command("/fork a:b\u0007")).ok).toBe(false);
    await host.say("Who am I?", { session: "main-fork-1" });
    expect(lastRequest()).toContain("I am Ada.");
    const count = async (key: string) => (await host.gateway.messages(key, 10))!.length;
    expect([await count("main"), await count("main-fork-1"), await count("main-fork-2")]).toEqual([
      2, 4, 2,
    ]);
  });
});

describe("/export", () => {
  it("writes the conversation down for its person", async () => {
    const { host, command } = await talking();
    expect((await command("/export")).ok).toBe(false);
    await host.say("I am Ada.");
    const [, file] = /^Written to (.+)\.$/.exec((await command("/export")).told)!;
    expect(await readFile(file!, "utf8")).toBe(
      "# Session main\n\n## You\n\nI am Ada.\n\n## Reply\n\nanswer 1\n",
    );
    expect((await stat(file!)).mode & 0o777).toBe(0o600);
  });
});

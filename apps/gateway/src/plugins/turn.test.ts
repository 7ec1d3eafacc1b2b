// Plugins inside real turns over a real wire.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { runClew } from "../testing/command.ts";
import { emulatedModel } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { copyTidepool, startPluginGateway } from "../testing/plugins.ts";

describe("a turn with plugins", () => {
  it("runs tools that only read, asks for others, and tells the model what hooks add", async () => {
    const calls = [
      { id: "c1", name: "tide_grep", arguments: { word: "Pelican" } },
      { id: "c2", name: "tide_forget", arguments: {} },
    ];
    const server = await createOpenAIEmulator({
      answers: (_, index) => (index % 2 === 1 ? { toolCalls: calls } : { text: "done" }),
    });
    onTestFinished(() => server.close());
    const home = await temporaryHome();
    const plugins = { load: { paths: [copyTidepool(home)] }, slots: { contextEngine: "tidepool" } };
    const { say, gateway } = await startPluginGateway(
      { ...emulatedModel(server.baseUrl), plugins },
      home,
    );
    const results = async () => {
      const { branch } = (await gateway.session("main"))!;
      return branch.flatMap((entry) =>
        entry.type === "message" && entry.message.role === "toolResult"
          ? [`${entry.message.isError} ${JSON.stringify(entry.message.content)}`]
          : [],
      );
    };
    await say("My boat is called Pelican.");
    expect((await say("Look for it.")).outcome).toBe("completed");
    expect(await results()).toEqual([
      expect.stringMatching(/^false .*user: My boat is called Pelican/),
      'true [{"type":"text","text":"tide_forget was not run: it needs a person\'s approval, and nobody is there to ask."}]',
    ]);
    const asked: string[] = [];
    gateway.approvals.attach({
      canAnswer: true,
      asked({ id, name }) {
        asked.push(name);
        gateway.approvals.answer(id, "once", "http");
      },
      over: () => {},
    });
    await say("And now you may.");
    expect(asked).toEqual(["tide_forget"]);
    expect((await results()).at(-1)).toBe('false [{"type":"text","text":"gone"}]');
    expect(server.violations).toEqual([]);
    const first = JSON.stringify(server.requests[0]!.body);
    expect(first).toContain("Older messages can be found with tide_grep.");
    for (const name of ["tide_grep", "tide_count", "tide_forget"]) expect(first).toContain(name);
  });
});

describe("the built command", () => {
  it("loads plugins as the sources do", async () => {
    const scratch = await temporaryHome();
    const home = join(scratch, "home");
    mkdirSync(home);
    const config = {
      plugins: { load: { paths: [copyTidepool(scratch)] }, slots: { contextEngine: "tidepool" } },
    };
    writeFileSync(join(home, "clew.json"), JSON.stringify(config));
    const chat = async (text: string) => (await runClew(home, ["chat", text])).output;
    await chat("My boat is called Pelican.");
    expect(await chat("/tide")).toBe(
      "Tidepool holds 2 messages (status for agent:main:main; slot tidepool).",
    );
    expect(await chat("/engine")).toContain("Engine: tidepool (Tidepool 0.3.1");
  });
});

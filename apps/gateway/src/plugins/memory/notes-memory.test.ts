// The example memory plugin beside both engines, as a person meets it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { bodyOf, memoryModel, notesPlugins, systemText } from "../../testing/memory.ts";
import { run } from "../../testing/obedient-model.ts";
import { startPluginGateway } from "../../testing/plugins.ts";

describe.each([
  ["legacy", "host"],
  ["lossless", "engine"],
] as const)("the example memory beside %s", (engine, shownBy) => {
  it("remembers across /new and a restart", async () => {
    const home = await temporaryHome();
    const { server, config } = await memoryModel();
    const settings = { ...config, plugins: notesPlugins({ contextEngine: engine }) };
    const first = await startPluginGateway(settings, home);
    const stored = await first.say(run("memory_write", { text: "The boat is called Pelican." }));
    expect(stored.outcome).toBe("completed");
    expect(stored.report.memory).toMatchObject({ plugin: "notes-memory", shownBy });
    const [note] = readdirSync(join(home, "agents/main/workspace/memory"));
    const file = join(home, "agents/main/workspace/memory", note!);
    expect(readFileSync(file, "utf8")).toBe("The boat is called Pelican.\n\n");

    await first.gateway.command("main", { kind: "command", name: "new", args: "" });
    const asked = run("memory_search", { query: "What is the boat called?" });
    const inNew = JSON.stringify((await first.say(asked)).reply);
    expect(inNew).toContain("The boat is called Pelican.");
    expect(inNew).toContain(`Source: memory/${note}#L1-L1`);
    await first.stop();

    const second = await startPluginGateway(settings, home);
    expect(JSON.stringify((await second.say(asked)).reply)).toContain("Pelican");
    const read = run("memory_get", { path: `memory/${note}` });
    expect(JSON.stringify((await second.say(read)).reply)).toContain("Pelican");
    for (const request of server.requests) {
      expect(systemText(request)).toContain("## Memory");
      expect(bodyOf(request).tools!.map((tool) => tool.function.name)).toEqual(
        expect.arrayContaining(["memory_search", "memory_get", "memory_write"]),
      );
    }
    expect(server.violations).toEqual([]);
  });
});

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { describeOtherSettings, otherSettings } from "./running-settings.ts";
import { clew } from "./testing/command.ts";
import { startTestGateway } from "./testing/gateway.ts";

describe("a gateway that runs with older settings", () => {
  const WARNING =
    'the gateway runs with model offline/offline, and the settings say model lmstudio/tiny; "clew stop" and "clew start" make it read them';

  it("is told of by status, doctor, init and a chat that goes through it", async () => {
    const { home } = await startTestGateway();
    expect((await clew(home, ["status"])).output).not.toContain("warning");
    const settings = { agents: { defaults: { model: "lmstudio/tiny" } } };
    await writeFile(join(home, "clew.json"), JSON.stringify(settings));
    const status = await clew(home, ["status"]);
    expect(status).toMatchObject({ code: 0, output: expect.stringContaining(WARNING) });
    expect(JSON.parse((await clew(home, ["status", "--json"])).output)).toMatchObject({
      otherSettings: [{ name: "model", running: "offline/offline", set: "lmstudio/tiny" }],
    });
    expect((await clew(home, ["doctor"])).output).toContain(`warning  gateway: ${WARNING}`);
    const said = await clew(home, ["chat", "hello"]);
    expect(said).toMatchObject({ code: 0, errors: expect.stringContaining(WARNING) });
    const argv = ["init", "--model", "offline/offline", "--engine", "lossless", "--force"];
    expect((await clew(home, argv)).output).toMatch(
      /runs with engine legacy, .* say engine lossless/,
    );
  });

  it("is none where engine and model are those of the settings, however they are written", () => {
    const config = { agents: { defaults: { model: { primary: "a/b" } } }, plugins: {} } as never;
    const of = (health: Record<string, unknown>) => otherSettings({ health }, config);
    expect(of({ model: "a/b", engine: { configured: null } })).toEqual([]);
    expect(of({ model: "a/b", engine: { configured: "none" } })).toEqual([]);
    expect(of({})).toEqual([]);
    expect(describeOtherSettings([])).toBeNull();
  });
});

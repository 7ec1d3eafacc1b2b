import { describe, expect, it } from "vitest";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";

describe("clew config set", () => {
  it("shows what it set, but for secrets", async () => {
    const home = await temporaryHome();
    const shown = async (name: string, value: string) =>
      (await clew(home, ["config", "set", name, value])).output;
    expect(await shown("agents.defaults.compaction.lowWaterTokens", "9000")).toContain("= 9000 ");
    expect(await shown("session.mainKey", "main")).toContain('= "main" ');
    const apiKey = "models.providers.openai.apiKey";
    expect(await shown(apiKey, "sk-1234567890")).toContain(`${apiKey} = (hidden)`);
  });
});

describe("clew doctor", () => {
  it("says who writes summaries, and that nobody does where the offline model answers", async () => {
    const home = await temporaryHome();
    const said = async () => (await clew(home, ["doctor"])).output;
    expect(await said()).toContain("code lists and quotes what is left out, no model is asked");
    await clew(home, ["config", "set", "agents.defaults.compaction.model", "offline/offline"]);
    expect(await said()).toContain("offline/offline summarises");
  });
});

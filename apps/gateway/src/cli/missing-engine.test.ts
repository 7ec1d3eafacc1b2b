import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Finding } from "../doctor/finding.ts";
import { clew, startClew } from "../testing/command.ts";
import { homeWithOwnPort, temporaryHome } from "../testing/home.ts";

const NAMED = "plugins: { slots: { contextEngine: 'losless' } }";

describe("an engine that the settings name and nobody has", () => {
  it("is told of by start and in replies, and legacy answers", async () => {
    const home = await temporaryHome();
    await writeFile(join(home, "clew.json"), `{ ${NAMED}, gateway: { port: 0 } }`);
    const gateway = startClew(home, ["start", "--json"], { fromSource: true });
    const { url, engine } = JSON.parse(await gateway.nextLine());
    expect(engine).toBe("legacy in place of losless, which is not there");
    expect(gateway.errors()).toMatch(
      /^warning: There is no context engine "losless" .* Did you mean "lossless"\? .*contextEngine lossless"\. Until then legacy answers\.$/m,
    );
    const answer = await fetch(`${url}/api/sessions/main/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"text":"hello"}',
    });
    const events = await answer.text();
    expect(events).toContain('"outcome":"completed"');
    expect(events).toContain("losless");
    gateway.process.kill("SIGTERM");
    expect(await gateway.exit).toBe(0);
  });

  it("is told of by a chat, which goes on; but a flag is taken at its word", async () => {
    const home = await homeWithOwnPort();
    const refused = await clew(home, ["chat", "--engine", "losless", "hello"]);
    expect(refused.code).toBe(1);
    expect(refused.errors).toMatch(
      /no context engine "losless" \(--engine\); .* Did you mean "lossless"\? Choose one of them/,
    );
    await writeFile(join(home, "clew.json"), `{ ${NAMED} }`);
    const told = await clew(home, ["chat", "hello"]);
    expect([told.code, told.errors]).toEqual([0, expect.stringContaining("legacy answers")]);
    expect(told.errors).not.toContain("[context-engine]");
  });

  it("is taken out of the settings by doctor --fix, which says so and finds all well then", async () => {
    const home = await homeWithOwnPort();
    await writeFile(join(home, "clew.json"), `{ ${NAMED}, gateway: { port: 0 } }`);
    const { code, output } = await clew(home, ["doctor", "--fix", "--json"]);
    const { repaired, findings } = JSON.parse(output);
    expect([code, repaired]).toMatchObject([
      0,
      [{ code: "slot-removed", text: expect.stringContaining('did you mean "lossless"?') }],
    ]);
    expect(findings.map(({ code: of }: { code: string }) => of)).not.toContain("slot-stale");
    const again = await clew(home, ["doctor", "--fix"]);
    expect([again.code, again.output]).toEqual([
      0,
      expect.stringMatching(/^There was nothing to repair\.$/m),
    ]);
  });

  it("leaves the doctor finding it", async () => {
    const home = await homeWithOwnPort();
    await writeFile(join(home, "clew.json"), `{ ${NAMED} }`);
    const { code, output } = await clew(home, ["doctor"]);
    expect([code, output]).toEqual([1, expect.stringMatching(/^FAILURE {2}engine: .*losless/m)]);
    expect(output).toMatch(/Did you mean "lossless"\?/);
    expect(output).not.toContain("doctor --fix");
  });
});

describe("the doctor, of an engine that is chosen while a gateway runs", () => {
  const ABOUT = new Set(["slot-stale", "slot-waits", "slot-off", "gateway-other-settings"]);

  it("says what brings it: a restart, the plugin turned on, or its right name", async () => {
    const home = await temporaryHome();
    const set = (plugins: object) =>
      writeFile(join(home, "clew.json"), JSON.stringify({ gateway: { port: 0 }, plugins }));
    await set({});
    const gateway = startClew(home, ["start", "--json"], { fromSource: true });
    await gateway.nextLine();
    const found = async (plugins: object) => {
      await set(plugins);
      const { repaired, findings } = JSON.parse(
        (await clew(home, ["doctor", "--fix", "--json"])).output,
      ) as { repaired: Finding[]; findings: Finding[] };
      return [...repaired, ...findings.filter(({ code }) => ABOUT.has(code))];
    };
    const slots = { contextEngine: "lossless" };
    expect(await found({ slots })).toMatchObject([
      { code: "slot-waits", text: expect.stringContaining('"clew stop" and "clew start"') },
    ]);
    expect(await found({ slots, entries: { lossless: { enabled: false } } })).toMatchObject([
      { code: "slot-off", text: expect.stringContaining('"clew plugins enable lossless"') },
    ]);
    await set({ slots: { contextEngine: "losless" } });
    const { output } = await clew(home, ["doctor"]);
    expect(output).toContain(
      'which no plugin provides; did you mean "lossless"? "clew config set plugins.slots.contextEngine lossless" sets it',
    );
    expect(output).not.toMatch(/doctor --fix" to remove|and the settings say/);
    gateway.process.kill("SIGTERM");
    expect(await gateway.exit).toBe(0);
  });
});

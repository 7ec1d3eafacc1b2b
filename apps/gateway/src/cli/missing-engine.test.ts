import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
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
    expect([code, repaired.map(({ code: of }: { code: string }) => of)]).toEqual([
      0,
      ["slot-removed"],
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
  });
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { clew, startClew } from "../testing/command.ts";

const home = mkdtempSync(join(tmpdir(), "clew-emulate-"));
afterAll(() => rmSync(home, { recursive: true }));

interface Started {
  emulators: { api: string; url: string; baseUrl: string }[];
}

const ask = (baseUrl: string, body: object) =>
  fetch(`${baseUrl}/messages`, { method: "POST", body: JSON.stringify(body) });
const GOOD = {
  model: "claude-opus-4-6",
  max_tokens: 9,
  messages: [{ role: "user", content: "hi" }],
};

describe("clew emulate", () => {
  it("starts all apis, says where and what arrives, and ends when it is told to", async () => {
    const script = join(home, "script.json");
    writeFileSync(script, JSON.stringify([{ text: "Hello." }, { fault: "overloaded" }]));
    const child = startClew(home, ["emulate", "--json", "--script", script]);
    const { emulators } = JSON.parse(await child.nextLine()) as Started;
    expect(emulators).toHaveLength(8);
    const { baseUrl } = emulators.find(({ api }) => api === "anthropic-messages")!;
    expect(await (await ask(baseUrl, GOOD)).json()).toMatchObject({
      content: [{ text: "Hello." }],
    });
    expect((await ask(baseUrl, GOOD)).status).toBe(529);
    expect((await ask(baseUrl, { ...GOOD, messages: [] })).status).toBe(400);
    const told = [await child.nextLine(), await child.nextLine(), await child.nextLine()];
    expect(told.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { request: { api: "anthropic-messages", path: "/v1/messages", violations: [] } },
      { request: { violations: [] } },
      { request: { violations: [{ rule: "messages.empty" }] } },
    ]);
    child.process.kill("SIGINT");
    expect(await child.exit).toBe(0);
  });

  it("prints a table for people, and what a request broke", async () => {
    const child = startClew(home, ["emulate", "--api", "anthropic-messages"]);
    await expect.poll(() => child.lines.join(" ")).toMatch(/http:\S+\/v1/);
    const [baseUrl] = /http:\S+\/v1/.exec(child.lines.join(" "))!;
    await ask(baseUrl, { ...GOOD, foo: 1 });
    await expect
      .poll(() => child.lines.slice(-2))
      .toEqual([
        "anthropic-messages /v1/messages: broken rules",
        "  toplevel.extra: foo: Extra inputs are not permitted",
      ]);
    child.process.kill("SIGTERM");
    expect(await child.exit).toBe(0);
  });

  it("names the apis there are to somebody who asks for another", async () => {
    const { code, errors } = await clew(home, ["emulate", "--api", "nope"]);
    expect([code, errors]).toEqual([2, expect.stringContaining("google-generative-ai")]);
  });

  it("says what to do when a port is in use", async () => {
    const child = startClew(home, ["emulate", "--json", "--api", "openai-responses"]);
    const { emulators } = JSON.parse(await child.nextLine()) as Started;
    const { port } = new URL(emulators[0]!.url);
    const again = await clew(home, ["emulate", "--api", "openai-responses", "--port", port]);
    expect([again.code, again.errors]).toEqual([
      1,
      expect.stringContaining(`Port ${port} is in use`),
    ]);
    child.process.kill("SIGINT");
    expect(await child.exit).toBe(0);
  });
});

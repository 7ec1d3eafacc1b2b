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

  it("answers only where the real ones do, and only to the key it is told", async () => {
    const child = startClew(home, [
      ...["emulate", "--json", "--api", "anthropic-messages"],
      ...["--require-key", "key-for-tests-only"],
    ]);
    const { emulators } = JSON.parse(await child.nextLine()) as Started;
    const { url, baseUrl } = emulators[0]!;
    expect((await ask(url, GOOD)).status).toBe(404);
    expect((await ask(baseUrl, GOOD)).status).toBe(401);
    const headers = { "x-api-key": "key-for-tests-only" };
    const body = JSON.stringify(GOOD);
    expect((await fetch(`${baseUrl}/messages`, { method: "POST", headers, body })).status).toBe(
      200,
    );
    child.process.kill("SIGTERM");
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

  it("checks by the rules of the flavor that is asked for, on the apis that have it", async () => {
    const child = startClew(home, ["emulate", "--json", "--flavor", "groq"]);
    const { emulators } = JSON.parse(await child.nextLine()) as Started;
    expect(emulators.map(({ api }) => api)).toEqual(["openai-completions"]);
    const body = { ...GOOD, messages: [{ role: "user", content: "hi", mood: "good" }] };
    await fetch(`${emulators[0]!.baseUrl}/chat/completions`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    expect(JSON.parse(await child.nextLine())).toMatchObject({
      request: { violations: [expect.anything()] },
    });
    child.process.kill("SIGINT");
    expect(await child.exit).toBe(0);
  });

  it.each([
    [["--flavor", "grok"], 'no flavor "grok". Did you mean "groq"?'],
    [["--flavor", "grok"], "groq (Groq), deepseek (DeepSeek)"],
    [["--api", "mistral-conversations", "--flavor", "tests"], "There are: none."],
    [["--api", "openai-responses", "--flavor", "groq"], "of openai-responses"],
    [["--script", join(home, "missing.json")], "missing.json does not exist"],
    [["--script", join(home, "nosuch.json")], 'unknown fault "nosuch"; there are: status'],
    [["--script", join(home, "txt.json")], 'unknown field "txt"'],
    [["--script", join(home, "no.json")], "It is no JSON"],
  ])("refuses %j in one sentence", async (args, words) => {
    writeFileSync(join(home, "nosuch.json"), JSON.stringify([{ fault: "nosuch" }]));
    writeFileSync(join(home, "txt.json"), JSON.stringify([{ txt: "hi" }]));
    writeFileSync(join(home, "no.json"), "[{");
    const { code, errors } = await clew(home, ["emulate", ...args]);
    expect(errors).toContain(words);
    expect(code).toBe(words.includes("does not exist") ? 1 : 2);
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

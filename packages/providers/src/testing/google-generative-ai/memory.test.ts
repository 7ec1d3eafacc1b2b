import { afterEach, describe, expect, it } from "vitest";
import { createGoogleEmulator } from "../emulators.ts";
import type { Emulator } from "../server/options.ts";

const servers: Emulator[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

interface Part {
  text?: string;
  functionCall?: { name: string; id?: string };
  thoughtSignature?: string;
}

interface Answer {
  status: number;
  parts: Part[];
  error?: { message: string };
  usage?: { promptTokenCount: number; cachedContentTokenCount?: number };
}

async function start(options: Parameters<typeof createGoogleEmulator>[0] = {}) {
  const server = await createGoogleEmulator(options);
  servers.push(server);
  return server;
}

async function send(
  { baseUrl }: Emulator,
  contents: object[],
  model = "gemini-3-pro",
): Promise<Answer> {
  const response = await fetch(`${baseUrl}/models/${model}:generateContent`, {
    method: "POST",
    headers: { "x-goog-api-key": "one" },
    body: JSON.stringify({ contents }),
  });
  const body = (await response.json()) as {
    candidates?: { content: { parts: Part[] } }[];
    usageMetadata?: Answer["usage"];
    error?: { message: string };
  };
  const { candidates, usageMetadata: usage, error } = body;
  return {
    status: response.status,
    parts: candidates?.[0]?.content.parts ?? [],
    ...(usage !== undefined && { usage }),
    ...(error !== undefined && { error }),
  };
}

const hi = { role: "user", parts: [{ text: "hi" }] };
const LOOP = [
  {
    thinking: "Both.",
    toolCalls: [
      { name: "read", arguments: { path: "a" } },
      { name: "read", arguments: { path: "b" } },
    ],
  },
  { text: "Done." },
];
const responsesTo = (parts: Part[]) => ({
  role: "user",
  parts: parts.flatMap(({ functionCall }) =>
    functionCall === undefined
      ? []
      : [{ functionResponse: { ...functionCall, args: undefined, response: {} } }],
  ),
});

describe("signatures that come back to a Gemini server", () => {
  it("stand on the first of the calls made at once, and must come back there", async () => {
    const server = await start({ answers: LOOP });
    const { parts } = await send(server, [hi]);
    expect(parts.map(({ thoughtSignature }) => thoughtSignature !== undefined)).toEqual([
      false,
      true,
      false,
    ]);
    const given = (said: Part[]) => [hi, { role: "model", parts: said }, responsesTo(said)];
    expect((await send(server, given(parts))).status).toBe(200);
    const unsigned = parts.map(({ thoughtSignature: _gone, ...part }) => part);
    expect((await send(server, given(unsigned))).error?.message).toMatch(
      /^Function call is missing a thought_signature.*position 2\.$/,
    );
  });

  it("are corrupt when nobody of this provider made them, except the documented dummy", async () => {
    const server = await start({ answers: LOOP });
    const { parts } = await send(server, [hi]);
    const signedBy = (thoughtSignature: string) => {
      const said = parts.map((part) =>
        part.thoughtSignature === undefined ? part : { ...part, thoughtSignature },
      );
      return send(server, [hi, { role: "model", parts: said }, responsesTo(said)]);
    };
    expect((await signedBy("bm90IG91cnM=")).error?.message).toBe("Corrupted thought signature.");
    expect((await signedBy("skip_thought_signature_validator")).status).toBe(200);
    expect(server.violations.map(({ rule }) => rule)).toEqual(["signature.corrupt"]);
  });

  it("are not asked of models before the third generation, which give no ids either", async () => {
    const server = await start({ answers: LOOP });
    const { parts } = await send(server, [hi], "gemini-2.5-pro");
    expect(parts.flatMap(({ functionCall }) => functionCall?.id ?? [])).toEqual([]);
    const said = parts.map(({ thoughtSignature: _gone, ...part }) => part);
    const again = [hi, { role: "model", parts: said }, responsesTo(said)];
    expect((await send(server, again, "gemini-2.5-pro")).status).toBe(200);
  });
});

describe("the prompt cache of a Gemini server", () => {
  it("fills itself, and bills what it read for less", async () => {
    const server = await start();
    const long = { role: "user", parts: [{ text: "word ".repeat(4000) }] };
    await send(server, [long]);
    const { usage } = await send(server, [long]);
    expect(usage?.cachedContentTokenCount).toBe(usage?.promptTokenCount);
    const [first, second] = server.requests.map(({ bill }) => bill!.cost);
    expect(first! / second!).toBeGreaterThan(5);
  });

  it.each([
    ["gemini-2.5-pro", 3000],
    ["gemini-3-pro", 5000],
  ])("of %s keeps a prompt of %s tokens, and none of half of it", async (model, tokens) => {
    for (const share of [0.5, 1]) {
      const server = await start();
      const said = { role: "user", parts: [{ text: "word ".repeat(tokens * share) }] };
      await send(server, [said], model);
      const { usage } = await send(server, [said], model);
      expect((usage?.cachedContentTokenCount ?? 0) > 0).toBe(share === 1);
    }
  });
});

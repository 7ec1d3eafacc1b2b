import type { ModelCall } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import type { Endpoint } from "../provider.ts";
import { streamModel } from "../stream.ts";

/** What is told of a call, how often it was tried, and what was sent. */
async function ask(endpoint: Endpoint, sign?: Record<string, string>) {
  const sent: string[] = [];
  let retries = 0;
  const call: ModelCall = {
    model: {
      provider: "house",
      api: "openai-completions",
      id: "m",
      contextWindow: 9000,
      maxOutputTokens: 100,
    },
    systemPrompt: "",
    messages: [{ role: "user", content: "Hi" }],
    tools: [],
    signal: new AbortController().signal,
  };
  const events = streamModel({
    call,
    endpoint,
    ...(sign && { sign: async () => sign }),
    fetch: async (url) => {
      sent.push(String(url));
      throw new TypeError(`fetch of ${url} failed`);
    },
    retry: { baseDelayMs: 1 },
    onRetry: () => {
      retries += 1;
    },
  });
  for await (const event of events)
    if (event.type === "error")
      return { error: event.error, partial: event.partial, sent, retries };
  throw new Error("no error");
}

const baseUrl = "http://h.test/v1";

describe("what HTTP cannot carry", () => {
  it("is refused before it is sent, and not tried again, when it is a key", async () => {
    const { error, sent, retries } = await ask({ baseUrl, apiKey: "sk–secret-1234" });
    expect(error).toEqual({
      kind: "auth",
      message:
        'Model provider "house" (http://h.test/v1) has a key (header "authorization") with the character U+2013 (–), which HTTP cannot carry; copy it anew, or type that character.',
    });
    expect([sent, retries]).toEqual([[], 0]);
  });

  it("is refused when a program printed it, or when it would end a header", async () => {
    for (const authorization of ["Bearer €uro-1234", "Bearer one\r\nx-other: two"]) {
      const { error, sent } = await ask({ baseUrl }, { authorization });
      expect(error.kind).toBe("auth");
      expect(error.message).not.toMatch(/uro-1234|x-other/);
      expect(sent).toEqual([]);
    }
  });

  it("is refused in another header by its name", async () => {
    const { error } = await ask({ baseUrl, headers: { "X-Team": "Ω" } });
    expect(error).toMatchObject({
      kind: "invalid_request",
      message: expect.stringContaining('a header "x-team" with the character U+03A9 (Ω)'),
    });
  });

  it("is a user name or password in an address, which is repeated nowhere", async () => {
    const { error, partial, sent } = await ask({ baseUrl: "http://me:hunter2@h.test/v1" });
    expect(error).toMatchObject({ kind: "invalid_request" });
    expect(JSON.stringify([error, partial])).not.toContain("hunter2");
    expect(sent).toEqual([]);
  });
});

it("a key in the query of a base URL is repeated in no error", async () => {
  const { error, partial, sent } = await ask({ baseUrl: `${baseUrl}?key=QSECRET` });
  expect(sent[0]).toContain("QSECRET");
  expect(error.message).toContain("fetch of http://h.test/v1/chat/completions?key=[key] failed");
  expect(JSON.stringify([error, partial])).not.toContain("QSECRET");
});

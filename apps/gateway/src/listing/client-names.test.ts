import { describe, expect, it } from "vitest";
import { CONNECT_CLIENTS } from "../connect/clients.ts";
import { agentOf, clientNamedIn, newDoorKey } from "./client-names.ts";

const from = (program: string) => agentOf({ headers: { "user-agent": program }, prompts: [] });
const saying = (...prompts: string[]) => agentOf({ headers: {}, prompts });

describe("names of sessions at the door", () => {
  it("know every client that can be connected, by the title it has there", () => {
    const names = [
      ...["claude-code", "codex", "opencode", "pi", "qwen-code", "gemini-cli", "copilot", "cline"],
      "kimi-code",
    ];
    const titles = names.map((name) =>
      clientNamedIn(newDoorKey("main", name, "openai-completions")),
    );
    expect(new Set(titles.map((client) => client?.title))).toEqual(
      new Set(CONNECT_CLIENTS.map(({ title }) => title)),
    );
    expect(titles.every((client) => client?.isAgent)).toBe(true);
  });

  it("are a client's by its key, by the program it says it is, else by its prompt", () => {
    expect(agentOf({ headers: {}, key: "codex:t1", prompts: [] })).toBe("codex");
    expect(from("claude-cli/2.1.330 (external, sdk-cli)")).toBe("claude-code");
    expect(from("GeminiCLI/0.61.0/gemini-3 (linux; x64; terminal)")).toBe("gemini-cli");
    expect(from("QwenCode/0.24.4 (linux; x64)")).toBe("qwen-code");
    expect(from("opencode/1.18.33 ai-sdk/provider-utils/4")).toBe("opencode");
    expect(saying("You are an assistant operating inside pi, a harness.")).toBe("pi");
    expect(saying("Rules.", "\nYou are Codex, an agent.")).toBe("codex");
    expect(from("OpenAI/JS 6.26.0")).toBeUndefined();
    expect(saying("Talk about pi, and about Codex.")).toBeUndefined();
  });

  it("tell of nobody where people chose them", () => {
    for (const name of ["main", "pi", "pi-work", "chat-1", "pi-0123456789abc", "x-0123456789ab"])
      expect(clientNamedIn(`agent:main:${name}`)).toBeUndefined();
    expect(clientNamedIn("agent:main:chat-0123456789ab.20261128-010203")).toEqual({
      ...{ title: "Chat Completions", isAgent: false },
    });
  });
});

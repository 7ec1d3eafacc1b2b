// A memory plugin that keeps what it remembers in Markdown files of the workspace.
import { homedir } from "node:os";
import { join } from "node:path";
import { definePluginEntry, type MemoryPromptParams, type PluginApi } from "@clew/plugin-sdk/core";
import { type Notes, noteOf, openNotes } from "./notes.ts";

export default definePluginEntry({
  id: "notes-memory",
  name: "Notes memory",
  kind: "memory",
  register(api) {
    const opened = new Map<string, Notes>();
    const notesOf = (agentId: string) => {
      const folder = workspaceOf(api, agentId);
      const notes = opened.get(folder) ?? openNotes(folder);
      opened.set(folder, notes);
      return notes;
    };
    api.registerMemoryCapability({
      promptBuilder,
      flushPlanResolver: ({ nowMs }) => ({ relativePath: noteOf(nowMs) }),
      runtime: {
        getMemorySearchManager: async ({ agentId }) => ({
          manager: {
            search: async (query, { maxResults = 6 } = {}) =>
              notesOf(agentId).search(query, maxResults),
            readFile: async ({ relPath, from, lines }) => ({
              text: notesOf(agentId).read(relPath, from, lines),
              path: relPath,
            }),
            status: () => ({ folder: workspaceOf(api, agentId) }),
          },
        }),
        closeAllMemorySearchManagers() {
          for (const notes of opened.values()) notes.close();
          opened.clear();
        },
      },
    });
    api.registerTool(
      ({ agentId = "main" }) => ({
        name: "memory_write",
        description:
          "Remembers a fact, decision or preference for later sessions. Write it so that it can be understood alone.",
        parameters: {
          type: "object",
          properties: { text: { type: "string", minLength: 1, maxLength: 8000 } },
          required: ["text"],
          additionalProperties: false,
        },
        execute(_id, params) {
          const { text } = params as { text: string };
          const path = notesOf(agentId).add(text, Date.now());
          return { content: [{ type: "text", text: `Remembered in ${path}.` }] };
        },
      }),
      { names: ["memory_write"] },
    );
  },
});

/** Only of tools that the model has in this run. */
function promptBuilder({ availableTools, citationsMode }: MemoryPromptParams): string[] {
  const has = (name: string) => availableTools.has(name);
  const lines = [
    ...(has("memory_search")
      ? [
          "Notes of earlier sessions are kept in files. Before you answer about earlier work, people, preferences, dates or open ends, look with memory_search; memory_get shows a place that it names.",
        ]
      : []),
    ...(has("memory_write")
      ? ["When something should be known in later sessions, store it with memory_write."]
      : []),
    ...(has("memory_search") && citationsMode === "on"
      ? ["Name the source of what you take from notes, as in: (memory/2026-05-04.md#L3)."]
      : []),
  ];
  return lines.length === 0 ? [] : ["## Memory", ...lines];
}

/** Hosts that do not tell keep workspaces where OpenClaw does. */
function workspaceOf(api: PluginApi, agentId: string): string {
  const agent = api.runtime["agent"] as
    | { resolveAgentWorkspaceDir?: (config: unknown, agentId: string) => string }
    | undefined;
  const config = api.runtime.config?.current() ?? api.config;
  const told = agent?.resolveAgentWorkspaceDir?.(config, agentId);
  return told ?? join(homedir(), ".openclaw", "workspace");
}

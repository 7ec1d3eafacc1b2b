// Starts emulated servers for a test file, and ends them after each test.
import { afterEach } from "vitest";
import type { Emulator } from "../../../packages/providers/src/testing.ts";

const servers: Emulator[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** Waits for the server, and remembers to close it. */
export async function open(starting: Promise<Emulator>): Promise<Emulator> {
  const server = await starting;
  servers.push(server);
  return server;
}

/** A tool, as a schema, and what it is called with. */
export const READ = {
  name: "read",
  description: "reads a file",
  schema: { type: "object" as const, properties: { path: { type: "string" } } },
};

/** Two tools called at once after some thinking, then an end. */
export const TOOL_LOOP = [
  {
    thinking: "Both, I think.",
    text: "Let me look.",
    toolCalls: [
      { name: "read", arguments: { path: "a" } },
      { name: "read", arguments: { path: "b" } },
    ],
    chunkChars: 4,
  },
  { thinking: "Enough.", text: "Both are empty.", chunkChars: 4 },
];

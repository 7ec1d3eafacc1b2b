// A process that has an MCP server as a gateway has it, to be killed.
import { createProgramTransport } from "../mcp/client/program-transport.ts";

const [command = "", ...args] = process.argv.slice(2);
const transport = createProgramTransport({
  program: { kind: "program", command, args, env: {} },
  usual: { PATH: process.env.PATH },
  onOdd: () => {},
});
await transport.start();
await new Promise(() => setInterval(() => {}, 60_000));

// Says in words how an MCP server is.
import { counted } from "../../text/number.ts";
import { visible } from "../../text/visible.ts";
import { describeLeft, type McpServerStatus } from "./live-server.ts";

/** Pure. One line, without the name. */
export function describeServer({
  state,
  problem,
  about,
  tools,
  odd,
  left,
}: McpServerStatus): string {
  const who = about === null ? "" : `, ${visible(`${about.name} ${about.version}`.trim())}`;
  const strange = odd === 0 ? "" : `; ${counted(odd, "line")} of it nobody understood`;
  const lacking = describeLeft(left);
  const without = lacking === null ? "" : `; ${lacking}`;
  const why = problem === null ? "" : `: ${problem.text}`;
  switch (state) {
    case "idle":
      return "starts with the first turn that may use it";
    case "connecting":
      return `is being started${why}`;
    case "ready":
      return `${counted(tools.length, "tool")}${who}${strange}${without}`;
    case "away":
      return `is not there and is tried again${why}`;
    case "off":
      return `is off until it is asked for${why}`;
  }
}

// What a chat knows of its session while somebody talks in it.
import type { ReplyText } from "./reply-lines.ts";

export interface Conversation {
  /** Canonical. */
  key: string;
  turn: LiveTurn | null;
}

export interface LiveTurn {
  /** By the clock of events, ms. */
  since: number;
  /** A model was asked and has not said anything yet, or the host does something else. */
  isQuiet: boolean;
  thought: { words: number; since: number } | null;
  reply: ReplyText;
  /** A piece of this turn's reply was shown. */
  hasBegun: boolean;
  /** Tools that run now, by the id of their call. */
  tools: Readonly<Record<string, LiveTool>>;
  /** The tool that ended last, until its result is told. */
  ended: EndedTool | null;
}

export interface LiveTool {
  name: string;
  /** JSON in one line. */
  input: string;
  since: number;
}

export interface EndedTool extends Pick<LiveTool, "name" | "input"> {
  isError: boolean;
  ms: number | null;
}

export const isWorking = ({ turn }: Conversation): boolean => turn !== null;

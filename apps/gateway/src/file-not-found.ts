// The error for a path that leads nowhere.
import { ContextEngineError } from "@clew/plugin-sdk/core";

export const fileNotFound = (path: string, cause?: unknown): ContextEngineError =>
  new ContextEngineError("FILE_NOT_FOUND", `There is nothing at ${path}; check the path.`, {
    cause,
  });

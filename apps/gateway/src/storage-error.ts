// The error of a file that cannot be read or written.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { storageAdvice, storageReason } from "./storage-reason.ts";

/** `what` begins the sentence: what could not be done. */
export const storageFailed = (what: string, error: unknown): ContextEngineError =>
  new ContextEngineError(
    "STORAGE_FAILED",
    `${what}: ${storageReason(error)}; ${storageAdvice(error)} and try again.`,
    { cause: error },
  );

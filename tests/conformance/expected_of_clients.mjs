// What the pinned version of the public conformance suite checks of a client.
//
// By revision and scenario: how many checks must be SUCCESS.

export const EXPECTED = {
  "2026-07-28": {
    tools_call: 2,
    "request-metadata": 8,
    "sep-2322-client-request-state": 5,
    "http-standard-headers": 3,
    "http-custom-headers": 18,
    "http-invalid-tool-headers": 12,
    "json-schema-ref-no-deref": 1,
    "json-schema-2020-12-preservation": 9,
  },
  "2025-11-25": {
    initialize: 1,
    tools_call: 2,
    "elicitation-sep1034-client-defaults": 5,
    "sse-retry": 3,
    "json-schema-2020-12-preservation": 9,
  },
};

/** What is not run. */
export const ELSEWHERE = {
  prefix: (scenario) => scenario.startsWith("auth/"),
  why: "`auth/`, are about how a client gets a token by OAuth; ours sends the one that it is given",
};

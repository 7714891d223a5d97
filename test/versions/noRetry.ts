// Instead of p-retry (see jest.config.js), by which LangChain repeats calls to a model. No test makes one.
export {};

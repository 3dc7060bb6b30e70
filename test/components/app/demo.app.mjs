export default {
  type: "app",
  app: "demo",
  propDefinitions: {
    project: {
      type: "string",
      label: "Project",
      description: "The project to watch",
      async options({ page, prevContext }) {
        return { options: [`${this.$auth.api_key}-${page}-${Object.keys(prevContext).length}`], context: { nextPageToken: "x" } };
      },
    },
    limit: { type: "integer", label: "Limit", default: 10, max: 100 },
  },
  methods: {
    key() {
      return this.$auth.api_key;
    },
    describe(project) {
      return `${project} as ${this.key()}`;
    },
  },
};

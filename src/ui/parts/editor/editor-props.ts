/** Lines count from 1, columns from 0. */
export interface CodeProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface EditorProps {
  readonly text: string;
  readonly path: string;
  readonly isReadOnly: boolean;
  readonly problem: CodeProblem | undefined;
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
  readonly label: string;
}

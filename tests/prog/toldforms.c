/* toldforms: docs/tail-forms.json, the table of the forms of the sentences of tail; `make schema`
 * writes the file, and cli/docs compares it. */
#include "libtime/explain/told.h"

#include <stdio.h>

int main(void)
{
	printf("{");
	for (int i = 0; i < TOLD_FORM_COUNT; i++)
		printf("%s\n \"%s\": \"%s\"", i ? "," : "", told_form_texts[i].key,
		       told_form_texts[i].words);
	printf("\n}\n");
	return 0;
}

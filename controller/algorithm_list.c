#include "controller/algorithm_list.h"

#include <string.h>

/* The end of the first name: what follows a comma and has a "=" before anything else is its. */
static size_t first_length(const char *list)
{
    size_t length = strcspn(list, ",");
    while (list[length] == ',') {
        size_t next = strcspn(list + length + 1, ",:=");
        if (list[length + 1 + next] != '=')
            break;
        length += 1 + strcspn(list + length + 1, ",");
    }
    return length;
}

bool algorithm_list_next(const char **list, struct text *name)
{
    size_t length = first_length(*list);
    if (**list == '\0')
        return false;
    text_clear(name);
    text_add_bytes(name, *list, length);
    *list += length + ((*list)[length] == ',');
    return true;
}

#include <algorithm>
#include <vector>

#include "opseal/form.h"

namespace opseal {
namespace {

void visit_form(const Form& form, std::vector<const Form*>& done, void (*visit)(const Form&, void*),
                void* context) {
  if (std::find(done.begin(), done.end(), &form) != done.end()) return;
  done.push_back(&form);
  for (const Field& field : form.fields) visit_form(*field.form, done, visit, context);
  if (form.item != nullptr) visit_form(*form.item, done, visit, context);
  if (form.map_value != nullptr) visit_form(*form.map_value, done, visit, context);
  if (!form.name.empty()) visit(form, context);
}

}  // namespace

void for_each_named_form(const Form& root, void (*visit)(const Form&, void*), void* context) {
  std::vector<const Form*> done;
  visit_form(root, done, visit, context);
}

}  // namespace opseal
